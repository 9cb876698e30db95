"""Which words do methods score highest and lowest, and do classes have words of their own?

After Wu and Ong (2021), "On Explaining Your Explanations of BERT: An Empirical Study with Sequence Classification",
Tables 2, 4, 5 and 6: the five words with the highest and the lowest mean score, of those that occur five times or more
(corrections.md A2.10). Beside them the share of words that the classes' lists have in common, and sentences of our own
as in Figure 2, where sentences of the data would be.

    python -m studies s2_words --data FOLDER --work work/s2 --out studies/s2_words --processes 2

FOLDER and WORK are those of s2_agreement, whose explanations are read; missing ones are made first. Finished units are
kept. `--size tiny --data pocket` takes seconds.
"""

from functools import partial

import pellucid
from pellucid.base.kinds import checks
from pellucid.base.processes import Share
from pellucid.comparison.scored_text import by_method
from pellucid.text.example import Example
from studies.s2_agreement.explained import SIZES, check_case, explained_about, names_of
from studies.s2_agreement.study import about, seeds_of
from studies.s2_deletion.methods import PAPER
from studies.s2_models.study import FOLDERS
from studies.s2_models.trained_models import PHRASES, trained
from studies.s2_words.numbers import summarise
from studies.s2_words.page import as_page
from studies.s2_words.picture import sentences_picture
from studies.shared.options import DEVICE, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

WORD_RANKS, CLASS_OVERLAP = checks.get("word_ranks"), checks.get("class_overlap")
FEWEST = {"tiny": 2}  # occurrences of a word, where they are not the paper's five
SENTENCES = (
    "a mess of a plot , but the two leads are funny and quite touching .",
    "it is not bad , it is just long and it never says anything new .",
    "the last ten minutes are a disturbing , unforgettable delight .",
    "i wanted to laugh and i got a lecture .",
)


@studies.add()
def s2_words() -> Study:
    """Which words do gradients, relevance and attention score highest? Tables 2 and 4 to 6 and figure 2 of Wu and Ong
    (2021).
    """
    return Study(
        sizes=SIZES,
        options=(FOLDERS, WORK, ENCODER, PHRASES, DEVICE, FINISHED),
        work=UnitStages({"words": word_units, "sentences": sentence_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"sentences.svg": lambda settings, numbers: sentences_picture(numbers["sentences"])},
    )


def word_units(settings: Settings, records: Records) -> list[Unit]:
    """The words of each data set under the model of each seed."""
    return [
        Unit(
            f"words-{task}-{seed}",
            explained_about(settings, task) | {"seed": seed},
            partial(_words, settings, task, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(seeds_of(settings))
        for task in settings.size.texts
    ]


def sentence_units(settings: Settings, records: Records) -> list[Unit]:
    """Our sentences under the models of SST-5."""
    return [
        Unit(
            f"sentences-{seed}",
            {"training": explained_about(settings, "sst5")["training"], "sentences": SENTENCES, "seed": seed},
            partial(_sentences, settings, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(seeds_of(settings))
    ]


def _words(settings: Settings, task: str, seed: int, share: Share) -> Numbers:
    """words: method -> "highest" and "lowest" -> words with mean and count. overlap: method -> shares of common words,
    beside chance.
    """
    case = check_case(settings, task, seed)
    names = names_of(case.methods)
    words: dict[str, dict[str, list[Numbers]]] = {}
    for line in WORD_RANKS.make(case, k=5, min_count=FEWEST.get(settings.size_name, 5)).lines:
        row = {"word": line.beside, "mean": round(line.value.mean, 4), "n": line.n}
        words.setdefault(names[line.method], {}).setdefault(line.measure, []).append(row)
    overlap: dict[str, Numbers] = {}
    for line in CLASS_OVERLAP.make(case).lines:
        overlap.setdefault(names[line.method], {})[line.beside] = {
            "share": round(line.value.mean, 4),
            "k": line.n,
        }
    share(1.0)
    return {"task": task, "seed": seed, "words": words, "overlap": overlap}


def _sentences(settings: Settings, seed: int, share: Share) -> Numbers:
    """sentences: the answer, the words, and for each method the scores, divided by the largest of the sentence."""
    model = trained(settings, "sst5", seed)
    texts = [Example((sentence,), id=str(number)) for number, sentence in enumerate(SENTENCES)]
    of_methods = by_method(
        one for own in pellucid.explain_all(model, texts, list(PAPER.values()), progress=False).values() for one in own
    )
    first, *_ = of_methods.values()
    share(1.0)
    return {
        "seed": seed,
        "sentences": [
            {
                "words": text.words,
                "answer": text.predicted,
                "scores": {
                    name: own[number].relative.round(3).tolist()
                    for name, own in zip(PAPER, of_methods.values(), strict=True)
                },
            }
            for number, text in enumerate(first)
        ],
    }
