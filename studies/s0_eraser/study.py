"""T3: do extracted spans agree with what people marked? ERASER's movie reviews, and e-SNLI.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3 and table 3; DeYoung et al. (2020),
"ERASER". The paper says neither how many spans are taken nor how long (corrections.md A0.19), so three cuts are judged.
A self-explaining model can put its weight on the final full stop of every text: its spans collapse. So its penalty is
chosen on dev among those whose spans did not collapse, and no claim is judged by a model whose spans did.

    python -m studies s0_eraser --data FOLDER --work runs/s0_eraser --out studies/s0_eraser --processes 2

FOLDER holds movies, snli and esnli, each with JSON lines; --data pocket takes our own texts and pairs. Finished work
lies in --out and is not done again; models lie in --work. `--size tiny` takes a minute; small about 75 minutes in two
processes of one core each.
"""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from pellucid.base.processes import Share
from pellucid.errors.record import words_of
from pellucid.evidence.eraser_scores import eraser_scores, example_columns
from pellucid.evidence.transfers import right_answers
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import heaviest_spans
from pellucid.text.units import Spans
from pellucid.training.recipe import Recipe
from studies.s0_eraser.cuts import (
    cut_at_random,
    cut_by_scores,
    explanations_of,
    lengths_of,
    marked_tokens,
)
from studies.s0_eraser.numbers import summarise
from studies.s0_eraser.page import as_page
from studies.s0_eraser.settings import (
    PENALTIES,
    RIVALS,
    SIZES,
    SPANS,
    StudyModel,
    examples,
    own_recipe,
    seeds_of,
    text_digests,
)
from studies.s0_eraser.texts import TASKS, labels_of
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DATA, DEVICE, ENCODER, WORK
from studies.shared.self_explaining_models import (
    CONCENTRATION,
    ModelTraining,
    SpanChanges,
    train_kind,
)
from studies.shared.span_sharpness import places_of
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

LOOKED_AT = 300  # dev texts whose heaviest spans are examined
MOST_WORDS = 12  # of the heaviest spans' words that are listed


@studies.add()
def s0_eraser() -> Study:
    """Do extracted spans agree with what people marked? Table 3 of Sun et al. (2020)."""
    data = DATA.changed(help="folder with movies, snli and esnli; or pocket")
    return Study(
        sizes=SIZES,
        options=(data, WORK, ENCODER, DEVICE),
        work=UnitStages({"choosing": choosing_units, "models": model_units, "extractors": extractor_units}),
        summary=summary,
        page=lambda settings, numbers: as_page(numbers),
        equal_scores=EqualScores(
            "spans and words that were cut by scores took equal scores in reading order",
            "This concerns span_attention and rationale, which give many words the same score.",
            stage="extractors",
        ),
    )


def summary(settings: Settings, records: Records) -> Numbers:
    """The numbers of all units, and what they depend on."""
    stages = (list(records[stage].values()) for stage in ("choosing", "models", "extractors"))
    return summarise(*stages) | {
        "about": {
            "size": settings.size_name,
            "sizes": {task: asdict(settings.size[task]) for task in TASKS},
            "encoder": Path(settings.encoder).name,
            "data": Path(settings.data).name,
            "texts": text_digests(settings),
            "seeds": len(seeds_of(settings)),
        }
    }


def best_penalties(tried: Sequence[Numbers]) -> dict[tuple[str, str], str]:
    """(task, kind) -> the penalty with the best accuracy on dev; collapsed ones count only where all collapsed."""
    by_kind: dict[tuple[str, str], list[Numbers]] = {}
    for one in tried:
        by_kind.setdefault((one["task"], one["kind"]), []).append(one)
    return {
        name: max(ones, key=lambda one: (not one["collapsed"], one["dev_accuracy"]))["penalty"]
        for name, ones in by_kind.items()
    }


def choosing_units(settings: Settings, records: Records) -> list[Unit]:
    """Every kind of self-explaining model with every penalty of its task."""
    units = []
    for task in TASKS:
        size = settings.size[task]
        for kind in (kind for kind in size.kinds if kind in SPANS):
            for penalty in size.penalties:
                model = StudyModel(task, kind, 0, penalty, few=size.choosing is not None)
                units.append(_unit(f"choosing-{model.name}", model, settings, _selection_numbers))
    return units


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """Every model with the best penalty, seed by seed, so that a study that is stopped early has whole seeds."""
    best = best_penalties(list(records["choosing"].values()))
    return [
        _unit(f"model-{model.name}", model, settings, _judged_model)
        for seed in seeds_of(settings)
        for model in _of_seed(settings, seed, best)
    ]


def _of_seed(settings: Settings, seed: int, best: Mapping[tuple[str, str], str]) -> list[StudyModel]:
    """best: see `best_penalties`."""
    return [
        StudyModel(task, kind, seed, best.get((task, kind))) for task in TASKS for kind in settings.size[task].kinds
    ]


def extractor_units(settings: Settings, records: Records) -> list[Unit]:
    """Every extractor on the model that it reads, task by task and seed by seed."""
    best = best_penalties(list(records["choosing"].values()))
    units = []
    for seed in seeds_of(settings):
        models = _of_seed(settings, seed, best)
        for task in TASKS:
            by_kind = {model.kind: model for model in models if model.task == task}
            readers = {name: by_kind[kind] for name, kind in RIVALS.items() if kind in by_kind}
            if _joined(settings, task):  # windows have attention, the whole text has none
                del readers["average_attention"]
            readers |= {kind: model for kind, model in by_kind.items() if kind in SPANS}
            for name, model in readers.items():
                work = partial(_judged_extractor, extractor=name)
                units.append(_unit(f"judged-{task}-{name}-{seed}", model, settings, work, extractor=name))
    return units


def _unit(name: str, model: StudyModel, settings: Settings, work: Callable[..., Numbers], **more: object) -> Unit:
    work = partial(_timed, work, settings, model)
    return Unit(name, model.about(settings, **more), work, settings.encoder)


def _timed(work: Callable[..., Numbers], settings: Settings, model: StudyModel, share: Share) -> Numbers:
    began = time.monotonic()
    numbers = work(settings, model, share)
    return {**asdict(model), **numbers, "seconds": round(time.monotonic() - began)}


def _selection_numbers(settings: Settings, model: StudyModel, share: Share) -> Numbers:
    """The numbers by which a penalty is selected. A model of few texts is deleted."""
    network, dev = trained(settings, model, share), examples(settings, model.task, "dev")
    heaviest = heaviest_spans(explanations_of(network, dev[:LOOKED_AT], "span_attention", 0))
    if model.few:
        shutil.rmtree(_folder(settings, model))
    right = right_answers(network, dev)
    return {
        "dev_accuracy": float(sum(right) / len(right)),
        "collapsed": heaviest.collapsed,
        "heaviest": asdict(heaviest),
    }


def _judged_model(settings: Settings, model: StudyModel, share: Share) -> Numbers:
    right = right_answers(trained(settings, model, share), examples(settings, model.task, "judged"))
    return {"right": "".join(str(int(one)) for one in right)}


def _judged_extractor(settings: Settings, model: StudyModel, share: Share, extractor: str) -> Numbers:
    network, texts = trained(settings, model, share), examples(settings, model.task, "judged")
    share_marked = marked_tokens(texts)
    lengths = lengths_of(texts, share_marked)
    if extractor == "random_span":
        cuts, more = cut_at_random(network, texts, lengths, model.seed), {}
    else:
        name = "span_attention" if extractor in SPANS else extractor
        explanations = explanations_of(network, texts, name, model.seed)
        cuts = cut_by_scores(explanations, name, lengths, model.seed)
        more = _of_spans(explanations) if extractor in SPANS else {}
    return {
        "extractor": extractor,
        "marked": share_marked,
        "taken": {cut: eraser_scores(spans, resamples=1).budget for cut, spans in cuts.items()},
        "columns": {
            cut: [[round(value, 4) for value in example_columns(one, 0.5)] for one in spans]
            for cut, spans in cuts.items()
        },
        **more,
    }


def _of_spans(explanations: Sequence[Explanation]) -> Numbers:
    """The heaviest spans: counts, the commonest words, and over how many spans the weight is spread."""
    words: Counter[str] = Counter()
    for one in explanations:
        words.update(words_of(one.spans(1)[0].text))
    spread = [one.diagnostics["effective_spans"] for one in explanations]
    return {
        "heaviest": asdict(heaviest_spans(explanations)),
        "words": words.most_common(MOST_WORDS),
        "words_in_all": words.total(),
        "effective_spans": sum(spread) / len(spread),
        "places": places_of(
            (one.example, one.units, one.scores) for one in explanations if isinstance(one.units, Spans)
        ),
    }


def trained(settings: Settings, model: StudyModel, share: Share) -> Classifier:
    """A model of the study. A finished one is loaded."""
    size, documents = settings.size[model.task], TASKS[model.task].documents
    of_size = Recipe(epochs=size.epochs, batch_size=size.batch_size, learning_rate=size.learning_rate, seed=model.seed)
    recipe = replace(of_size, **own_recipe(settings))
    own = SPANS.get(model.kind, SpanChanges()).copy()
    if model.penalty:
        own["penalties"], start = PENALTIES[model.penalty]
        within = {"within": "sentence"} if documents else {}
        own["pooler_settings"] = {**within, "score_start": start, **own.get("pooler_settings", {})}
    training = ModelTraining(
        settings.encoder,
        labels_of(settings.data, model.task),
        recipe,
        CONCENTRATION,
        settings.device,
        documents=_joined(settings, model.task),
        **own,
    )
    parts = {part: examples(settings, model.task, part) for part in ("train", "dev")}
    if model.few:
        parts["train"] = parts["train"][: size.choosing]
    kind = "span" if model.kind in SPANS else model.kind
    return train_kind(kind, training, parts, _folder(settings, model), share)


def _joined(settings: Settings, task: str) -> bool:
    """Whether texts are longer than the encoder reads."""
    return TASKS[task].documents and settings.size[task].words is None


def _folder(settings: Settings, model: StudyModel) -> Path:
    return settings.work / "models" / model.name
