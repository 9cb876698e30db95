"""F1, F4, F7 to F9, T3 to T9, A.5: the words of each class by saliency, and how many of them classes share.

Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers", section 4.2, appendices A.3 to A.5;
corrections.md A1.10, A1.11. The classifiers are those of `s1_games` in the same --work; missing ones are trained.

    python -m studies s1_words --task sst2 --data FOLDER --idf TEXTS --work runs/s1_sst2 --out studies/s1_words/sst2

TEXTS are a file or data set that says how rare words are; the paper takes 50,000 articles of Wikipedia, here wikitext-2
serves. --layer is the one that s1_games chose on dev. Pages with the data's own texts stay in --work/pages. `--size
tiny` takes seconds.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, partial

import pellucid
from pellucid.base.catalogue import Choice
from pellucid.base.errors import BadSetting
from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.results.word_lists import MOST, SUMS, WordLists
from pellucid.text.example import Example
from studies.s1_games.models import missing_method, trained, with_language_head
from studies.s1_games.study import LENS_OPTION, TASK
from studies.s1_games.tasks import ALLENNLP, DECODED, SIZES, UNDECODED, part, title_of_texts
from studies.s1_words.geometry import geometry_picture
from studies.s1_words.numbers import summarise
from studies.s1_words.page import as_page, clouds, curves
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit, text_digest

IDF = Option("--idf", {"default": "pocket", "help": "texts that say how rare words are: a file or data set"})
LAYER = Option("--layer", {"default": "late", "help": "the layer that is explained: late, or its number"})


@studies.add()
def s1_words() -> Study:
    """Which words stand for a class, and do classes share them? Figures 4 and 7 to 9 of Hou and Castañón (2023)."""
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, IDF, WORK, ENCODER, DEVICE, LENS_OPTION, LAYER, FINISHED),
        work=UnitStages({"models": model_units, "lists": list_units}),
        summary=lambda settings, records: summarise(records, titled(settings), _missing(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={
            "geometry.svg": lambda settings, numbers: geometry_picture(),
            "overlap.svg": lambda settings, numbers: curves(numbers),
            "clouds.svg": lambda settings, numbers: clouds(numbers),
        },
    )


def choices(settings: Settings) -> list[Choice]:
    """The methods whose words are counted, the decoded one first; those that need a run a piece and more are left
    out.
    """
    layer: int | str = settings.own["layer"]
    if layer != "late":
        if not str(layer).isdecimal():
            raise BadSetting(f"--layer {layer} is not possible; give late, or a number.")
        layer = int(layer)
    return [
        (DECODED, {"layer": layer}),
        (UNDECODED, {"layer": layer}),
        *ALLENNLP,
        "thermostat_gradient_x_activation",
        "thermostat_integrated_gradients",
        ("chance", {"n_draws": 1, "unit": "piece"}),
    ]


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """The classifier of each seed; a finished one is not trained again."""
    return [_unit(settings, f"model-{seed}", partial(_train, settings, seed)) for seed in range(_seeds(settings))]


def list_units(settings: Settings, records: Records) -> list[Unit]:
    """The lists of each method that can be run, with each seed."""
    return [
        _unit(
            settings,
            f"lists-{re.sub(r'[^a-z0-9_]+', '-', _name(one))}-{seed}",
            partial(_count, settings, one, seed),
        )
        for seed in range(_seeds(settings))
        for one in choices(settings)
        if not missing_method(settings, _name(one))
    ]


def _unit(settings: Settings, name: str, work: "partial[Numbers]") -> Unit:
    return Unit(name, _about(settings), work, settings.encoder, device=settings.device)


def _about(settings: Settings) -> Numbers:
    own = settings.own
    return {
        "task": own["task"],
        "lens": own["lens"],
        "layer": own["layer"],
        "n_texts": len(_texts(settings)),
        "n_idf_texts": len(_idf_texts(settings)),
        "seeds": _seeds(settings),
        "texts": text_digest({"test": _texts(settings), "idf": _idf_texts(settings)}),
    }


def titled(settings: Settings) -> Numbers:
    """What all numbers depend on, and what the page calls the texts."""
    return _about(settings) | {"title": title_of_texts(settings)}


def _missing(settings: Settings) -> dict[str, str]:
    return {name: why for name in map(_name, choices(settings)) if (why := missing_method(settings, name))}


def _texts(settings: Settings) -> Sequence[Example]:
    return with_smallest_digests(part(settings.data, "test"), settings.size.words)


def _idf_texts(settings: Settings) -> list[Example]:
    return _all_texts(settings.own["idf"])[: settings.size.idf]


@cache
def _all_texts(source: str) -> list[Example]:
    return load_examples(source, "all")


def _seeds(settings: Settings) -> int:
    seeds: int = settings.size.seeds.get(settings.own["task"], max(settings.size.seeds.values()))
    return seeds


def _name(choice: Choice) -> str:
    return choice if isinstance(choice, str) else choice[0]


def _train(settings: Settings, seed: int, share: Share) -> Numbers:
    return {"seed": seed, "digest": trained(settings, seed, share).hash}


def _count(settings: Settings, choice: Choice, seed: int, share: Share) -> Numbers:
    """Explain the texts and count; seed 0 also leaves a page of all texts, each on a scale of its own (A.5)."""
    decodes = _name(choice) == DECODED
    model = with_language_head(settings, seed) if decodes else trained(settings, seed)
    texts = _texts(settings)
    results = next(iter(pellucid.explain_all(model, texts, [choice], progress=False).values()))
    share(0.7)
    counted = pellucid.class_words(results, idf=_idf_texts(settings), unit="piece", model=model)
    share(0.9)
    if seed == 0:
        pages = settings.work / "pages"
        pages.mkdir(parents=True, exist_ok=True)
        pellucid.report(results, path=pages / f"texts-{_name(choice)}.html", scale="text")
        pellucid.report(counted, path=pages / f"words-{_name(choice)}.html")
    assert counted.lists is not None
    return {"seed": seed, "method": _name(choice), **lists_in_numbers(counted.lists)}


def lists_in_numbers(lists: WordLists) -> Numbers:
    """The lists of 50 tokens a class, what pairs of classes share, and both curves of overlap."""
    return {
        "labels": sorted(lists.labels),
        "n_texts": dict(lists.n_texts),
        "top": {
            sums: {
                label: [[word.word, round(word.score(sums), 4), word.count] for word in lists.top(label, MOST, sums)]
                for label in sorted(lists.labels)
            }
            for sums in SUMS
        },
        "shared": {
            sums: [[*sorted(pair), list(lists.shared(*pair, MOST, sums))] for pair in lists.pairs()] for sums in SUMS
        },
        "overlap": {sums: asdict(lists.overlap_curve(sums)) for sums in SUMS},
    }
