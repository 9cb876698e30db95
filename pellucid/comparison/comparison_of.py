"""The comparison that a call of `compare` describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import choices, listed
from pellucid.base.errors import BadSetting, PellucidError
from pellucid.base.leases import Share, computed_by_slices
from pellucid.base.processes import Progress, silent
from pellucid.comparison.case import Case
from pellucid.comparison.compared_part import STAGE
from pellucid.comparison.comparison import Comparison, metric_calls
from pellucid.comparison.folder import ComparisonFolder
from pellucid.corpus.slices import Crew, Parts
from pellucid.explaining.inputs.readings import default_metrics, to_explain, usual_methods
from pellucid.explaining.saved import SavedExplanations
from pellucid.models.classifiers.function import from_function
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Target
from pellucid.run.word import Word
from pellucid.text.example import Example, Rationale, as_examples


def comparison_of(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None,
    metrics: Iterable[Choice] | None,
    *,
    target: Target | Word,
    seed: int,
    resamples: int,
    shortcut_passes: int = 0,
    saved: SavedExplanations | None = None,
) -> Comparison:
    """The comparison that a call of `compare` describes; its names are looked up and checked before any work is
    done. saved: explanations in place of computing those of the same methods; without methods, these are judged.
    """
    usual = usual_methods(model) if saved is None else list[Choice](saved.choices)
    named = choices("methods", methods) if methods is not None else usual
    if "chance" not in {choice if isinstance(choice, str) else choice[0] for choice in named}:
        named.append("chance")
    examples = to_explain(model, as_examples(examples))
    judges = metric_calls(choices("metrics", metrics) if metrics is not None else default_metrics(model, examples))
    check_metrics(judges)
    request = Request(model, method_calls(named, model), target, seed)
    comparison = Comparison(request, examples, judges, resamples, shortcut_passes=shortcut_passes, saved=saved)
    lost = [] if saved is None or methods is not None else set(saved.by_method).difference(comparison.saved_titles)
    if lost:
        raise BadSetting(
            f"{listed(sorted(lost))} of the saved explanations is no method of this version with its settings; name "
            f"the methods to judge."
        )
    return comparison


# Settings of metrics, tried on a text and a function made up for it, so that bad ones are refused before any work.

WORDS = "one two three four five six seven eight nine ten eleven twelve"
EXAMPLE = Example((WORDS,), "a", (Rationale(0, 4, 7),), meta={"distractors": [[0, 8, 13]]})


def check_metrics(calls: Sequence[Call]) -> None:
    """Raise `BadSetting` for a setting that a metric refuses.

    Metrics with their usual settings are not tried. What the function lacks, such as word embeddings, shows nothing of
    settings.
    """
    for call in calls:
        if call.title != call.entry.name:
            _try(call)


def _try(call: Call) -> None:
    try:
        call(_case())
    except BadSetting as error:
        raise BadSetting(f"{call.entry.name}: {error}") from None
    except PellucidError:
        return


@cache
def _case() -> Case:
    # The finest kind of unit, so that no metric finds the scores too coarse: that is asked of the methods, elsewhere.
    model = from_function(_answer, ["a", "b"], mask="_", pieces="character")
    batch, scheduler = model.encode([EXAMPLE]), scheduler_for(model)
    request = Request(model, method_calls([("occlusion", {"unit": "piece"})], model), Target("predicted"), 0)
    (explanations,) = explain_batch(request, batch, scheduler, silent).values()
    return Case(model, batch, explanations, scheduler)


def _answer(texts: list[str]) -> list[list[float]]:
    """The first class where the text is long."""
    shares = [min(1.0, len(text) / len(WORDS)) for text in texts]
    return [[0.2 + 0.6 * share, 0.8 - 0.6 * share] for share in shares]


# The parts of a comparison in several processes: each loads the model once and writes the parts that it computes to
# the folder.

Ask = Callable[
    [Model], Comparison
]  # the comparison of a model; `comparison_of` with all its other arguments, in a `partial`


def compute_parts(folder: ComparisonFolder, ask: Ask, crew: Crew, progress: Progress) -> None:
    """Compute the parts that the folder does not have yet. The folder is refused as by `ComparisonFolder.judged`."""
    comparison = folder.comparison
    if not folder.missing_parts():
        return
    compute = partial(_compute, ask, folder.path, folder.reuse, comparison.question())
    parts = Parts(folder.path, comparison.n_parts, folder.has_part, compute, STAGE, len(comparison.examples))
    crew.compute(parts, progress)


def _compute(
    ask: Ask, path: Path, reuse: Path | None, question: Mapping[str, object], model: Model, share: Share
) -> None:
    """In a worker; raises `BadSetting` where it reads another question out of the same arguments."""
    folder = ComparisonFolder(path, ask(model), reuse=reuse)
    there = folder.comparison.question()
    if differing := sorted(name for name in question if there.get(name) != question[name]):
        raise BadSetting(
            f"A worker would compare something else ({', '.join(differing)}): the model's files, or methods and "
            f"metrics of this session, are not the same there; leave workers= away."
        )
    compute = partial(folder.compute, progress=silent)
    computed_by_slices(path, share, folder.comparison.n_parts, folder.has_part, compute)
