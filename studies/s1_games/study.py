"""T1, T2: hiding and revealing games for saliency of every layer, read back in words, beside the methods of the paper.

Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers", section 4.1 and appendix A.1;
corrections.md A1.*. The layer is chosen on dev texts and judged on test texts. All methods explain the same classifier
(A1.13).

    python -m studies s1_games --task sst2 --data FOLDER --work runs/s1_sst2 --out studies/s1_games/sst2

FOLDER holds train, dev and test as JSON lines, and train_phrases.jsonl.gz where GLUE's phrases are to be learnt from.
--lens names a lens or a pretrained checkpoint whose head decodes the states; without it a lens is trained for each
seed. Every classifier and every method, seed and part leaves a file of numbers and is not done again. `--size tiny`
takes seconds.
"""

import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from pellucid.base.catalogue import Choice
from pellucid.base.processes import Share
from pellucid.comparison.compared_part import compared_part
from pellucid.comparison.comparison import Comparison, metric_calls
from pellucid.comparison.judged_part import joined
from pellucid.explaining.answers import accuracy
from pellucid.run.explaining import Request, method_calls
from pellucid.run.model import Model
from pellucid.run.target import Target
from pellucid.text.example import Example
from studies.s1_games.models import missing_method, trained, with_language_head
from studies.s1_games.numbers import summarise
from studies.s1_games.page import as_page, sweep_picture
from studies.s1_games.tasks import (
    DECODED,
    PAPER,
    SIZES,
    TEXTS,
    UNDECODED,
    methods,
    part,
    title_of,
    title_of_texts,
    training_parts,
)
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit, text_digest

METRICS = ("revealing", "hiding")
TASK = Option("--task", {"default": "sst2", "help": f"whose numbers stand beside ours: {', '.join(PAPER)}"})
LENS_OPTION = Option("--lens", {"default": "", "help": "a lens, or the checkpoint whose head decodes states"})


@studies.add()
def s1_games() -> Study:
    """Which layer's saliency, read back in words, decides? Tables 1 and 2 of Hou and Castañón (2023)."""
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, ENCODER, DEVICE, LENS_OPTION, FINISHED),
        work=UnitStages({"models": model_units, "games": game_units}),
        summary=lambda settings, records: summarise(records, titled(settings), _missing(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"layers.svg": lambda settings, numbers: sweep_picture(numbers)},
        equal_scores=EqualScores(
            "hiding and revealing took equal scores in reading order",
            "This concerns decoded_saliency, where a word stands twice in a text, and grad_cam, which gives words 0.",
            stage="games",
        ),
    )


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """A classifier for each seed."""
    return [_unit(settings, f"model-{seed}", partial(_train, settings, seed)) for seed in range(_seeds(settings))]


def game_units(settings: Settings, records: Records) -> list[Unit]:
    """Each method that can be run, with each seed on test texts; saliency of layers on dev texts too."""
    here = [one for one in methods(settings.size) if not missing_method(settings, _name(one))]
    layered = [one for one in here if _name(one) in (DECODED, UNDECODED)]
    return [
        _unit(settings, unit_name(split, choice, seed), partial(_play, settings, split, choice, seed))
        for seed in range(_seeds(settings))
        for split, choices in (("dev", layered), ("test", here))
        for choice in choices
    ]


def unit_name(split: str, choice: Choice, seed: int) -> str:
    """The name of a method's unit."""
    return f"{split}-{re.sub(r'[^a-z0-9_]+', '-', title_of(choice))}-{seed}"


def judged_texts(settings: Settings, split: str) -> list[Example]:
    """The texts with the smallest digests; fewer of AG News, whose texts are longer."""
    size = settings.size
    most = size.texts if split == "test" else size.dev
    return with_smallest_digests(part(settings.data, split), min(most, TEXTS.get(settings.own["task"], most)))


def _unit(settings: Settings, name: str, work: "partial[Numbers]") -> Unit:
    return Unit(name, _about(settings), work, settings.encoder, device=settings.device)


def _about(settings: Settings) -> Numbers:
    size, own = settings.size, settings.own
    texts = {split: judged_texts(settings, split) for split in ("dev", "test")} | training_parts(settings)
    return {
        "task": own["task"],
        "lens": own["lens"],
        "epochs": size.epochs,
        "draws": size.draws,
        "orders": size.orders,
        "n_train": len(texts["train"]),
        "n_dev": len(judged_texts(settings, "dev")),
        "n_texts": len(texts["test"]),
        "seeds": _seeds(settings),
        "texts": text_digest(texts),
    }


def _seeds(settings: Settings) -> int:
    seeds: int = settings.size.seeds.get(settings.own["task"], max(settings.size.seeds.values()))
    return seeds


def titled(settings: Settings) -> Numbers:
    """What all numbers depend on, and what the page calls the texts."""
    return _about(settings) | {"title": title_of_texts(settings)}


def _missing(settings: Settings) -> dict[str, str]:
    """Methods that this version cannot run, each with the reason."""
    names = dict.fromkeys(map(_name, methods(settings.size)))
    return {name: why for name in names if (why := missing_method(settings, name))}


def _name(choice: Choice) -> str:
    return choice if isinstance(choice, str) else choice[0]


def _train(settings: Settings, seed: int, share: Share) -> Numbers:
    model = trained(settings, seed, share)
    right = accuracy(model, part(settings.data, "test"))
    return {"seed": seed, "accuracy": right.mean, "digest": model.hash}


def _play(settings: Settings, split: str, choice: Choice, seed: int, share: Share) -> Numbers:
    """Both games for one method: area for each text, and the mean curve of each game."""
    decodes = _name(choice) == DECODED
    model = with_language_head(settings, seed) if decodes else trained(settings, seed)
    texts = judged_texts(settings, split)
    values, curves = games(model, texts, choice, share)
    return {"seed": seed, "split": split, "method": title_of(choice), "values": values, "curves": curves}


def games(
    model: Model, texts: Sequence[Example], choice: Choice, share: Share
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """For each game the area of each text, and the mean over texts of the curve; tokens are hidden, as in the paper."""
    [call] = method_calls([choice], model)
    judges = metric_calls([(name, {"unit": "piece"}) for name in METRICS])
    comparison = Comparison(Request(model, [call], Target("predicted"), 0), tuple(texts), judges, 10)
    parts = []
    for number in range(comparison.n_parts):
        parts.append(compared_part(comparison, number, lambda *_: None).judged)
        share((number + 1) / comparison.n_parts)
    of_game = {title.partition("(")[0]: answer for (_, title), answer in joined(parts).values.items()}
    values = {name: _rounded(answer.columns.mean(0)[:, 0]) for name, answer in of_game.items()}
    curves = {name: _rounded(answer.curve.mean(0)) for name, answer in of_game.items() if answer.curve is not None}
    return values, curves


def _rounded(values: np.ndarray) -> list[float]:
    return [round(value, 4) for value in values.tolist()]
