"""Do models whose states keep their words depend on their attention weights? The weights are changed after training.

After Tutek and Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", tables 1, 2, 3 and
5. A BiLSTM with attention over words learns two classes: plain, with word vectors joined to the states or added to
them, with states tied to word vectors, and with masked words as a second task. F1 is taken with the model's own
weights, with uniform ones and with ten permutations; how much a state says of its word; and how sure of the answer a
single word's state is, alone.

    python -m studies s4_fragility --task sst2 --data FOLDER --work work/s4/sst2 --out studies/s4_fragility/sst2
    python -m studies s4_fragility --task ag_news --choice studies/s4_fragility/sst2 --data FOLDER --work ... --out ...

FOLDER holds train, dev and test as JSON lines; of the tasks anemia and diabetes it is a folder of MIMIC. The weights of
tying and of masked words are chosen on dev, with one seed, by the tasks sst2 and newsgroups; the others take those of
--choice, the folder of sst2 for ag_news, that of newsgroups for imdb and MIMIC. Finished trainings are kept and not
made again, and one that was interrupted goes on; with --keep-models table 2 and the sentences of figures 2 to 7 are
measured on the models of tables 1 and 3, without it on the same models, trained again. `--size tiny --task pocket
--data pocket` takes seconds.

Texts a second of a training step on one core, plain and with masked words: SST 370 and 200, AG News 190 and 95,
newsgroups of 100 words 40, reviews of 100 words 42, of 200 words 21 and 12. So the size small takes about these minutes
of one core: sst2 60 and newsgroups 50, with their choices, ag_news 25, imdb 35; s4_layers 35, s4_start 5, s4_verdicts
30. That is why texts are cut.
"""

from dataclasses import asdict

from pellucid.base.errors import BadSetting
from pellucid.models.composed.word_vectors import RARE, SPECIALS, word_tokenizer
from studies.s4_fragility.choice import (
    CHOICE,
    POOLER,
    SEED,
    best_weights,
    candidates,
    read_choice,
)
from studies.s4_fragility.information import information_unit
from studies.s4_fragility.page import as_page, as_picture
from studies.s4_fragility.sentences import DRAWN, sentences_unit
from studies.s4_fragility.sentences_picture import sentences_picture
from studies.s4_fragility.summary import summarise
from studies.s4_fragility.tasks import SIZES, TASKS, CorpusSize, corpus_size, labelled_parts, title_of
from studies.s4_fragility.trainings import KEEP_MODELS, Lesson, training_unit
from studies.shared.attention_models import WEIGHTED, AttentionModel
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

TASK = Option("--task", {"choices": sorted(TASKS), "required": True})


@studies.add()
def s4_fragility() -> Study:
    """Do answers depend on attention weights more when states keep their words? Tables 1, 2, 3 and 5 of Tutek and
    Šnajder (2020).
    """
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, CHOICE, KEEP_MODELS, DEVICE, FINISHED),
        work=UnitStages(
            {
                "choice": choice_units,
                "trainings": training_units,
                "information": information_units,
                "sentences": sentences_units,
            }
        ),
        summary=lambda settings, records: summarise(about(settings), records, weights_of(settings, records)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={
            "fragility.svg": lambda settings, numbers: as_picture(numbers),
            "sentences.svg": lambda settings, numbers: sentences_picture(
                numbers["sentences"], TASKS[settings.own["task"]].labels[1]
            ),
        },
    )


def choice_units(settings: Settings, records: Records) -> list[Unit]:
    """A training for each weight that dev chooses from; none where the weights come from another corpus."""
    if settings.own["choice"]:
        return []
    task = settings.own["task"]
    if TASKS[task].weights_of:
        raise BadSetting(
            f"The task {task} takes the weights that were chosen on {TASKS[task].weights_of}; give --choice, the --out "
            f"folder of that task."
        )
    return [_unit(settings, model, SEED) for model in candidates(settings.size.weights)]


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """All variants with each seed, seed by seed, so that a study that is stopped early has whole rows."""
    weights = weights_of(settings, records)
    return [
        _unit(settings, AttentionModel(pooler, variant, weights.get(variant, 0.0)), seed)
        for seed in range(_size(settings).seeds)
        for pooler, variants in _size(settings).variants.items()
        for variant in variants
        if variant not in WEIGHTED or variant in weights
    ]


def information_units(settings: Settings, records: Records) -> list[Unit]:
    """The same models' mutual information, of additive attention as in table 2."""
    return [
        information_unit(settings, model, seed, lesson_of(settings))
        for seed in range(_size(settings).seeds)
        for model in _additive_models(settings, records)
    ]


def sentences_units(settings: Settings, records: Records) -> list[Unit]:
    """Sentences of our own as the models of one seed read them, as in figures 2 to 7."""
    return [
        sentences_unit(settings, model, SEED, lesson_of(settings))
        for model in _additive_models(settings, records)
        if model.variant in DRAWN
    ]


def weights_of(settings: Settings, records: Records) -> dict[str, float]:
    """Variant -> weight: those of --choice, or those that dev chooses; without a variant whose choice is not
    finished.
    """
    if settings.own["choice"]:
        return read_choice(settings.own["choice"])
    return best_weights(list(records["choice"].values()), settings.size.weights)


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    parts = labelled_parts(settings.own["task"], settings.data, _size(settings))
    counts = {f"n_{split}": len(texts) for split, texts in parts.items()}
    texts = [one.segments for one in parts["train"]]
    words = word_tokenizer(texts, RARE)
    lengths = [len(words(text[0], add_special_tokens=False)["input_ids"]) for text in texts]
    return {
        "task": settings.own["task"],
        "title": title_of(settings.own["task"], settings.data),
        **asdict(_size(settings)),
        **counts,
        "mean_words": sum(lengths) / len(lengths),
        "vocabulary": len(words.get_vocab()) - len(SPECIALS),
        "information": asdict(settings.size.information),
        "own_choice": not settings.own["choice"],
        "weights": {name: list(listed) for name, listed in settings.size.weights.items()},
        "choice_model": f"{POOLER}, seed {SEED}",
    }


def _additive_models(settings: Settings, records: Records) -> list[AttentionModel]:
    weights = weights_of(settings, records)
    return [
        AttentionModel(POOLER, variant, weights.get(variant, 0.0))
        for variant in _size(settings).variants[POOLER]
        if variant not in WEIGHTED or variant in weights
    ]


def _unit(settings: Settings, model: AttentionModel, seed: int) -> Unit:
    return training_unit(settings, model, seed, lesson_of(settings))


def lesson_of(settings: Settings) -> Lesson:
    """What the models learn."""
    task, size = settings.own["task"], _size(settings)
    parts = labelled_parts(task, settings.data, size)
    return Lesson(parts, TASKS[task].labels, size.epochs, size.batch_size, settings.size.width)


def _size(settings: Settings) -> CorpusSize:
    return corpus_size(settings.own["task"], SIZES, settings.size_name)
