"""Spans one can believe: which levers make the heaviest spans of a self-explaining model its evidence, and what they
cost.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", promise a model that is no less accurate and shows
the spans that decided. Here every lever of `pellucid train` that could keep that promise is trained beside the plain
model, the paper's recipe and rivals on the same encoder, and the spans are judged as post-hoc methods are: read alone,
left out, beside random spans, beside the best words of twelve methods on the same model, and beside what people marked.

    python -m studies believable_spans --on sst2 --data FOLDER --work work/spans --out studies/believable_spans/sst2 \\
        --processes 2

--on sst2 trains every lever, and dev chooses; on pocket, sst5, snli, hatexplain, movies and planted_token, planted_span
and planted_order the main models are judged on test. FOLDER holds a folder of JSON lines for each. Finished work is
kept. `--size tiny --on pocket --data pocket` takes seconds.
"""

from functools import partial

from pellucid.base.errors import BadInput
from studies.believable_spans.corpora import (
    CORPORA,
    SIZES,
    SpanSize,
    is_planted,
    models_of,
    parts_of,
    seeds_of,
    title_of,
)
from studies.believable_spans.judging import judged_numbers, training_numbers
from studies.believable_spans.models import MODELS
from studies.believable_spans.numbers import summarise
from studies.believable_spans.page import as_page
from studies.believable_spans.picture import as_picture
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

ON = Option("--on", {"choices": sorted(CORPORA), "default": "pocket", "help": "the corpus"})
FOLDERS = DATA.changed(required=None, default="", help="folder with a folder for each corpus")


@studies.add()
def believable_spans() -> Study:
    """Can the spans of a self-explaining model be believed? Every lever, rivals, and twelve post-hoc methods on the
    same model.
    """
    return Study(
        sizes=SIZES,
        options=(ON, FOLDERS, WORK, ENCODER, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units, "on_cuts": units_on_cuts, "judging": judging_units}),
        summary=summary,
        page=lambda settings, numbers: as_page(numbers),
        pictures={"levers.svg": lambda settings, numbers: as_picture(numbers)},
        equal_scores=EqualScores(
            "heaviest spans and words that were cut by scores took equal scores in reading order",
            "This concerns the scores of rationale models and of span_attention.",
            stage="judging",
        ),
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """Every model that reads whole texts, seed by seed. Raises `BadInput` where the corpus needs a folder and --data is
    not there.
    """
    on = settings.own["on"]
    if not settings.data and not (is_planted(on) or on == "pocket"):
        raise BadInput(f"The texts of {on} are not part of the package; give --data, the folder of their folder.")
    return [one for one in _trainings(settings) if not MODELS[one.about["model"]].cut_by]


def units_on_cuts(settings: Settings, records: Records) -> list[Unit]:
    """The models that read texts which a plain one has cut."""
    return [one for one in _trainings(settings) if MODELS[one.about["model"]].cut_by]


def _trainings(settings: Settings) -> list[Unit]:
    on = settings.own["on"]
    return [
        _unit(settings, f"model-{name}-{seed}", name, seed, partial(training_numbers, settings, name, seed))
        for seed in range(seeds_of(on, settings.size))
        for name in models_of(on, settings.size)
    ]


def judging_units(settings: Settings, records: Records) -> list[Unit]:
    """What is judged of each model."""
    on = settings.own["on"]
    return [
        _unit(settings, f"judged-{name}-{seed}", name, seed, partial(judged_numbers, settings, name, seed))
        for seed in range(seeds_of(on, settings.size))
        for name in judged_models(on, settings.size)
    ]


def judged_models(on: str, size: SpanSize) -> list[str]:
    """The models whose explanations are judged."""
    judged = CORPORA[on].judged or models_of(on, size)
    return [
        name
        for name in models_of(on, size)
        if name in judged and (MODELS[name].has_spans or (CORPORA[on].marks and not MODELS[name].cut_by))
    ]


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of result.json."""
    on = settings.own["on"]
    parts = parts_of(on, settings.data, settings.size_name)
    about = {
        "on": on,
        "title": title_of(on, settings.data),
        "models": list(models_of(on, settings.size)),
        "judged": judged_models(on, settings.size),
        "seeds": seeds_of(on, settings.size),
        "epochs": settings.size.epochs or CORPORA[on].epochs,
        "planted": is_planted(on),
        **{f"n_{split}": len(texts) for split, texts in parts.items()},
    }
    return summarise(
        about,
        [*records["trainings"].values(), *records["on_cuts"].values()],
        list(records["judging"].values()),
    )


def _unit(settings: Settings, name: str, model: str, seed: int, work: "partial[Numbers]") -> Unit:
    on, size, corpus, judged = settings.own["on"], settings.size, CORPORA[settings.own["on"]], MODELS[model]
    about = {
        "model": model,
        "seed": seed,
        "pooler": judged.pooler,
        "pooler_settings": judged.pooler_settings,
        "layer_form": judged.layer_form,
        "cut_by": judged.cut_by,
        "recipe": judged.recipe,
        "epochs": size.epochs or corpus.epochs,
        "rate": corpus.rate,
        "compared": min(corpus.compared, size.compared),
        "leaked": size.leaked,
        "texts": text_digest(parts_of(on, settings.data, settings.size_name)),
    }
    return Unit(name, about, work, settings.encoder, device=settings.device)
