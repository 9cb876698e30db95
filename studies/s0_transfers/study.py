"""T4: can extracted spans stand for their texts? Models trained and tested on full texts and on spans of SST-5.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 4 and table 4; corrections.md A0.10 to
A0.12. The models that are tested are plain; only `span_attention` reads a self-explaining one, and `rationale` one of
its own.

    python -m studies s0_transfers --data FOLDER --work runs/s0_transfers --out studies/s0_transfers --processes 2

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz); --data pocket takes our own sentences. Each training leaves
a file of numbers in --out and is not repeated. Models and spans lie in --work. `--size tiny` takes a minute; small
about 80 minutes in two processes of one core each: nine trainings on full texts, 25 on spans.
"""

import time
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial

from pellucid.base.processes import Share
from pellucid.evidence.transfers import right_answers
from pellucid.explaining.planting import label_leak
from studies.s0_transfers.numbers import summarise
from studies.s0_transfers.page import as_page
from studies.s0_transfers.rows import MODES, ROWS, SIZES, about, full_texts
from studies.s0_transfers.spans import cut, trained
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK, Option
from studies.shared.self_explaining_models import CONCENTRATION_OPTION, MODELS
from studies.shared.span_sharpness import span_sharpness
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, reserve_folder

ONLY_ROWS = Option("--rows", {"nargs": "+", "default": [], "help": "work on these rows alone, such as rationale"})


@studies.add()
def s0_transfers() -> Study:
    """Can extracted spans stand for their texts? Table 4 of Sun et al. (2020)."""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, ENCODER, CONCENTRATION_OPTION, DEVICE, ONLY_ROWS, FINISHED),
        work=UnitStages({"models": model_units, "rows": row_units}, wanted=is_wanted),
        summary=summary,
        page=lambda settings, numbers: as_page(numbers),
    )


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """The models on full texts: rows need all models of their seed. Reserves the work folder for these settings."""
    if not settings.finished:
        reserve_folder(settings.work, about(settings))
    return _units(settings, (f"model-{kind}-{seed}" for seed in range(settings.size.seeds) for kind in MODELS))


def row_units(settings: Settings, records: Records) -> list[Unit]:
    """Every row with every seed, and the other ways to cut with the first seed."""
    rows = [f"{name}-{seed}" for seed in range(settings.size.seeds) for name in ROWS]
    return _units(settings, [*rows, *(f"{name}-0" for name in MODES)])


def _units(settings: Settings, names: Iterable[str]) -> list[Unit]:
    depends_on = about(settings)
    return [
        Unit(name, depends_on, partial(work, settings, name), settings.encoder, device=settings.device)
        for name in names
    ]


def is_wanted(settings: Settings, unit: Unit) -> bool:
    """Whether it is a model, or --rows names its row or none."""
    name, rows = unit.name.rpartition("-")[0], settings.own["rows"]
    return not rows or name.startswith("model-") or name in rows


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of all finished units."""
    seeds = settings.size.seeds
    planned = dict.fromkeys(ROWS, seeds) | dict.fromkeys(MODES, 1)
    units = {**records["models"], **records["rows"]}
    return summarise(units, planned, seeds, about(settings)["texts"]) | {"about": about(settings)}


def work(settings: Settings, name: str, share: Share) -> Numbers:
    """One unit: a model trained on full texts, or one row's spans with the model trained on them."""
    began = time.monotonic()
    row, _, number = name.rpartition("-")
    seed = int(number)
    if row.startswith("model-"):
        numbers = _of_model(settings, row.removeprefix("model-"), seed, share)
    else:
        numbers = _of_row(settings, row, seed, share)
    return {"seed": seed, **numbers, "seconds": round(time.monotonic() - began)}


def _of_model(settings: Settings, kind: str, seed: int, share: Share) -> Numbers:
    model = trained(settings, kind, seed, share=share)
    if kind == "span":
        cut(settings, "span_attention", seed)  # other rows take their lengths
    numbers: Numbers = {"right": right_answers(model, full_texts(settings)["test"])}
    return numbers | ({"sharpness": span_sharpness(model, full_texts(settings)["dev"])} if kind == "span" else {})


def _of_row(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    extractions = cut(settings, name, seed)
    spans = {part: [one.as_example() for one in of_part] for part, of_part in extractions.items()}
    full_model = trained(settings, "plain", seed)
    span_model = trained(settings, "plain", seed, parts=spans, cut_by=name, share=share)
    test = full_texts(settings)["test"]
    leak = label_leak(extractions["train"], extractions["test"])
    return {
        "coverage": [one.coverage for one in extractions["test"]],
        "words": [sum(len(span.words) for span in one.spans) for one in extractions["test"]],
        "leak": {**asdict(leak), "leaks": leak.leaks},
        "F-S": right_answers(full_model, spans["test"]),
        "S-F": right_answers(span_model, test),
        "S-S": right_answers(span_model, spans["test"]),
    }
