"""Which explanation can be trusted? Twelve methods under all metrics and checks on one corpus, over training seeds.

Each seed's model is judged by `compare` in a folder of its own, with the next seed's model as its twin: 100 texts of at
most 24 words, at most 60 evaluations of a text for a method, games in ten steps, five draws of random scores. On
planted reasons the truth is known: there the study asks which metrics rank methods as the truth does. At last it asks
whether the trust card's advice on one seed holds on the others.

    python -m studies which_explanation --on sst2 --data FOLDER --work work/which \\
        --out studies/which_explanation/sst2 \\
        --processes 2

--on is one of pocket, sst2, planted, ag_news, esnli (whose models learn from snli) and hatexplain; FOLDER holds a
folder of JSON lines for each, and pocket and planted need none. values.parquet beside the page has every value.
Finished comparisons are kept, and one that was interrupted goes on after its last text. `--size tiny --on pocket` takes
seconds.
"""

from functools import partial

from pellucid.base.errors import BadInput
from pellucid.base.kinds import checks
from pellucid.comparison.comparison import metric_calls
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest
from studies.which_explanation.corpora import (
    CORPORA,
    PLANTED,
    SIZES,
    parts_of,
    reason_of,
    settings_of,
    title_of,
)
from studies.which_explanation.judging import judged_numbers, training_numbers
from studies.which_explanation.methods import check_choices, metric_choices
from studies.which_explanation.numbers import summarise
from studies.which_explanation.page import as_page
from studies.which_explanation.picture import as_picture
from studies.which_explanation.values_file import write_values

ON = Option("--on", {"choices": sorted(CORPORA), "default": "pocket", "help": "the corpus"})
FOLDERS = DATA.changed(required=None, default="", help="folder with a folder for each corpus")
ENOUGH_RIGHT = Option(
    "--enough", {"type": float, "default": 0.95, "help": "share of right answers that counts as learnt"}
)
WITHOUT_DATA = ("pocket", PLANTED)


@studies.add()
def which_explanation() -> Study:
    """Which of twelve methods can be trusted, by all metrics and checks, and which metrics agree with a planted
    truth?
    """
    return Study(
        sizes=SIZES,
        options=(ON, FOLDERS, WORK, ENCODER, ENOUGH_RIGHT, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units, "comparisons": comparison_units}),
        summary=summary,
        page=lambda settings, numbers: as_page(numbers),
        pictures={"methods.svg": lambda settings, numbers: as_picture(numbers)},
        equal_scores=EqualScores(
            "cuts, games, token F1, IOU F1 and the overlap of highest words took equal scores in reading order, auprc "
            "and average precision as one threshold",
            "Its methods seldom give two words the same score, so little should change.",
            stage="comparisons",
        ),
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """A model of each setting and seed. Raises `BadInput` where the corpus needs a folder and --data is not there."""
    if not settings.data and settings.own["on"] not in WITHOUT_DATA:
        raise BadInput(
            f"The texts of {settings.own['on']} are not part of the package; give --data, the folder of their folder."
        )
    return [
        _unit(
            settings,
            f"model-{setting}-{seed}",
            setting,
            seed,
            partial(training_numbers, settings, setting, seed),
        )
        for seed in range(seeds_of(settings))
        for setting in settings_of(settings.own["on"], settings.size)
    ]


def comparison_units(settings: Settings, records: Records) -> list[Unit]:
    """The comparison of each model, with the next seed's as its twin. Where a planted reason was not learnt, nothing is
    compared.
    """
    learnt = {
        (one["setting"], one["seed"])
        for one in records["trainings"].values()
        if one["learnt"] is None or one["learnt"]["holds"]
    }
    seeds = seeds_of(settings)
    return [
        _unit(
            settings,
            f"compared-{setting}-{seed}",
            setting,
            seed,
            partial(judged_numbers, settings, setting, seed, (seed + 1) % seeds),
        )
        for seed in range(seeds)
        for setting in settings_of(settings.own["on"], settings.size)
        if (setting, seed) in learnt
    ]


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of result.json; every value is written to values.parquet beside it."""
    write_values(list(records["comparisons"].values()), settings.out)
    return summarise(about(settings), records)


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    on, size = settings.own["on"], settings.size
    settings_judged = settings_of(on, size)
    first = parts_of(settings_judged[0], settings.data, settings.size_name)
    return {
        "on": on,
        "title": title_of(on, settings.data),
        "settings": list(settings_judged),
        "seeds": seeds_of(settings),
        "longest": size.longest,
        "resamples": size.resamples,
        **{f"n_{split}": len(texts) for split, texts in first.items()},
    }


def seeds_of(settings: Settings) -> int:
    """How many trainings each setting has; two at size tiny."""
    return 2 if settings.size_name == "tiny" else CORPORA[settings.own["on"]].seeds


def _unit(settings: Settings, name: str, setting: str, seed: int, work: "partial[Numbers]") -> Unit:
    size, corpus = settings.size, CORPORA[settings.own["on"]]
    has_reason = reason_of(setting) is not None
    metrics = metric_choices(size.metrics, has_reason)
    depends = {
        "setting": setting,
        "seed": seed,
        "epochs": corpus.epochs,
        "rate": corpus.rate,
        "methods": [list(one) if isinstance(one, tuple) else one for one in size.methods],
        "metrics": [call.title for call in metric_calls(metrics.values())],
        "checks": [call.title for call in checks.calls(check_choices(size.checks, has_reason))],
        "resamples": size.resamples,
        "enough": settings.own["enough"],
        "texts": text_digest(parts_of(setting, settings.data, settings.size_name)),
    }
    return Unit(name, depends, work, settings.encoder, device=settings.device)
