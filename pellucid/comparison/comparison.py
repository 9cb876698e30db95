"""What a comparison compares: which methods, judged by which metrics, on which examples, under which model."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import torch

from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import at_least, in_syntax, listed
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.kinds import metrics as known_metrics
from pellucid.base.packages import __version__
from pellucid.comparison.case import gold_classes
from pellucid.comparison.selection import marked_share
from pellucid.explaining.inputs.readings import OF_TEXTS
from pellucid.explaining.saved import SavedExplanations
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record
from pellucid.results.table import CHANCE
from pellucid.run.diagnostics import route_record
from pellucid.run.explaining import Request
from pellucid.run.model import WRITING, Model, lacking
from pellucid.run.target import Target
from pellucid.run.word import Word
from pellucid.text.example import Example, annotators_of
from pellucid.text.ranges import TIES
from pellucid.text.units import KINDS

PART = 16  # at most so many examples are explained, judged and saved together
WORK = 400_000  # characters x methods x metrics in a part: about a minute of a MiniLM classifier on two cores
PART_SIZE = "examples in a part"  # its name in the question


def metric_calls(choices: Iterable[Choice]) -> list[Call]:
    """Look metrics up, each a name or (name, settings); raises `UnknownName`, or `BadSetting` for twins."""
    return known_metrics.calls(choices)


@dataclass(frozen=True)
class Comparison:
    """request: the model, the methods, the target and the seed. calls: the metrics. resamples: bootstrap draws.

    shortcut_passes: edited texts that the model answers, at most, to say whether one word decides; 0: not asked.
    saved: explanations that were computed before, in place of those of methods of the same title.
    seconds: what explaining and judging took in the parts of this process, for estimates of the rest.
    examples_in_part: None makes a part about a minute's work, so that an interruption costs no more.

    Raises `BadInput`, `BadSetting` or `ModelCannot` for what cannot be judged, before any work is done.
    """

    request: Request
    examples: tuple[Example, ...]
    calls: Sequence[Call]
    resamples: int
    examples_in_part: int | None = None
    shortcut_passes: int = 0
    saved: SavedExplanations | None = None
    seconds: dict[str, float] = field(init=False, compare=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        model = self.request.model
        at_least("resamples", self.resamples, 1)
        if not self.examples:
            raise BadInput("There are no examples to compare methods on.")
        if self.saved is not None:
            for title in self.saved_titles:
                check_saved_target(self.saved.explanations(title, self.examples), self.target, model)
        if WRITING in model.capabilities or model.problem == "log_probability":
            check_metrics_of_texts(model, self.calls)
            return
        if self.of_classes and not self.metrics:
            names = listed(call.entry.name for call in self.of_classes)
            raise ModelCannot(
                f"{model.name} gives a value and no class, by which {names} would judge. Metrics that work with it: "
                f"{', '.join(_possible_metrics(model))}."
            )
        check_capabilities(model, self.metrics)
        check_units(self.request.calls, self.metrics)
        if any(call.settings.get("reference") == "gold" for call in self.metrics):
            gold_classes(self.examples, model.labels)
        any_logits = torch.zeros(len(self.examples), len(model.labels))
        if isinstance(self.target, Target):
            self.target.resolve(self.examples, any_logits, model.labels, "multi_label")

    @property
    def target(self) -> Target | Word:
        """What is explained: metrics judge explanations of classes, or of the text that a model writes."""
        assert isinstance(self.request.target, Target | Word)  # `compare` makes no other
        return self.request.target

    @cached_property
    def part_size(self) -> int:
        """How many examples a part has; fewer for longer texts and for more methods and metrics."""
        if self.examples_in_part is not None:
            return self.examples_in_part
        characters = sum(len(segment) for example in self.examples for segment in example.segments)
        work = characters * len(self.request.calls) * len(self.metrics) / len(self.examples)
        return max(1, min(PART, int(WORK / max(work, 1))))

    @property
    def n_parts(self) -> int:
        """How many parts the examples are cut into."""
        return -(-len(self.examples) // self.part_size)

    def part(self, index: int) -> range:
        """The indices of one part's examples among all examples."""
        return range(index * self.part_size, min((index + 1) * self.part_size, len(self.examples)))

    @cached_property
    def metrics(self) -> list[Call]:
        """The metrics that can judge these examples: those that need people's marks only where there are marks, those
        that ask for classes only where the model gives some.
        """
        return [call for call in self.calls if call not in (*self.without_marks, *self.of_classes)]

    @cached_property
    def without_marks(self) -> list[Call]:
        """The metrics that need people's marks, where there are none."""
        has_marks = any(map(annotators_of, self.examples))
        return [] if has_marks else [call for call in self.calls if needs_marks(call)]

    @cached_property
    def of_classes(self) -> list[Call]:
        """The metrics that ask for classes, where the model gives a value."""
        is_value = self.request.model.problem == "regression"
        return [call for call in self.calls if is_value and call.entry.facts["of_classes"]]

    @property
    def saved_titles(self) -> list[str]:
        """The methods whose explanations were saved."""
        saved = {} if self.saved is None else self.saved.by_method
        return [call.title for call in self.request.calls if call.title in saved]

    @property
    def chance(self) -> str | None:
        """The title of the method that the others are compared with, if it is among them."""
        titles = (call.title for call in self.request.calls)
        return next((title for title in titles if title.partition("(")[0] == CHANCE), None)

    @cached_property
    def marked_share(self) -> float | None:
        """The mean share of marked words over all examples, where a metric needs marks."""
        wanted = any(map(needs_marks, self.metrics))
        return marked_share(self.request.model, self.examples) if wanted else None

    def question(self) -> dict[str, object]:
        """Everything that the values depend on, in JSON's terms: equal questions have equal values."""
        request = self.request
        head = request.model.language_head
        return {
            "version": __version__,
            "model": request.model_hash,
            "examples": f"{len(self.examples)} with digest {_digest(self.examples)}",
            "methods": {call.title: plain_settings(call) for call in request.calls},
            "metrics": {call.title: plain_settings(call) for call in self.calls},
            "target": self.target.in_words(request.model.labels),
            "seed": request.seed,
            "resamples": self.resamples,
            PART_SIZE: self.part_size,
            "equal scores": TIES,  # values that were measured in reading order are not mixed with others
            **({} if self.saved is None else {"saved explanations": self.saved.digest}),
            **({} if head is None else {"language head": head.digest}),
            **route_record(request.model),
        }


def check_saved_target(saved: Sequence[Explanation], target: Target | Word, model: Model) -> None:
    """Raise `BadSetting` where saved explanations explain other classes than the comparison does."""
    if isinstance(target, Word):
        return
    examples = [explanation.example for explanation in saved]
    logits = torch.tensor([explanation.prediction.logits for explanation in saved])
    resolved = target.resolve(examples, logits, model.labels, model.problem)
    against = resolved.against or (None,) * len(saved)
    for explanation, class_number, rival in zip(saved, resolved.classes, against, strict=True):
        wanted = model.labels[class_number], None if rival is None else model.labels[rival]
        if (explanation.target.label, explanation.target.against) != wanted:
            place, option = in_syntax("explained=", "--explained"), in_syntax("target=", "--target")
            raise BadSetting(
                f"{place} explains the {explanation.target} for {explanation.example.id!r}, and this comparison "
                f"{' against '.join(filter(None, wanted))}; give {option} as it was when they were saved."
            )


def needs_marks(call: Call) -> bool:
    """Whether a metric reads the marks that people left in texts."""
    return "rationales" in call.entry.facts["needs"]


def plain_settings(call: Call) -> dict[str, object]:
    """A call's settings as JSON reads them back."""
    return json.loads(json.dumps(dict(call.settings)))


def check_metrics_of_texts(model: Model, calls: Sequence[Call]) -> None:
    """Raise `ModelCannot` for a metric that does not judge explanations of what a model writes or answers."""
    does = "writes texts" if WRITING in model.capabilities else "answers questions"
    for call in calls:
        if call.entry.name not in OF_TEXTS:
            raise ModelCannot(
                f"{call.entry.name} judges explanations of classes, and {model.name} {does}; metrics that judge "
                f"these: {', '.join(OF_TEXTS)}."
            )


def check_capabilities(model: Model, metrics: Sequence[Call]) -> None:
    """Raise `ModelCannot` where a metric needs what the model lacks, with the metrics that it can be judged by."""
    for metric in metrics:
        if lacks := lacking(model, metric.entry.facts["capabilities"]):
            raise ModelCannot(
                f"{metric.entry.name} does not work with {model.name}, which {lacks}. Metrics that work with it: "
                f"{', '.join(_possible_metrics(model))}."
            )


def _possible_metrics(model: Model) -> list[str]:
    """The names of the metrics that need nothing that the model lacks."""
    facts = {name: known_metrics.get(name).facts for name in known_metrics.names()}
    works = {name: not lacking(model, each["capabilities"]) for name, each in facts.items()}
    return [name for name in facts if works[name] and not (model.problem == "regression" and facts[name]["of_classes"])]


def check_units(methods: Sequence[Call], metrics: Sequence[Call]) -> None:
    """Raise `BadSetting` where a metric reads finer units than a method scores.

    The scores of pieces add up to those of words, but the score of a word cannot be split among its pieces.
    """
    for metric in metrics:
        read = str(metric.settings.get("unit", "word"))
        coarser = {method.title: scored for method in methods if (scored := _coarser_unit(method, read))}
        if coarser:
            listed = ", ".join(f"{title} gives scores a {unit}" for title, unit in coarser.items())
            names = ", ".join(f"{title.partition('(')[0]} with unit={read!r}" for title in coarser)
            raise BadSetting(
                f"{metric.title} judges scores a {read}, but {listed}, which cannot be split. Name {names}, or give "
                f"{metric.entry.name} a coarser unit."
            )


def _coarser_unit(method: Call, unit: str) -> str | None:
    """The unit that a method scores, if it is coarser; unknown, so None, where the model decides on the unit."""
    scored = method.settings.get("unit")
    if scored == "span":  # spans of words
        scored = "word"
    if not isinstance(scored, str) or scored not in KINDS or unit not in KINDS:
        return None
    return scored if KINDS.index(scored) > KINDS.index(unit) else None


def _digest(examples: Sequence[Example]) -> str:
    digest = blake2b(digest_size=16)
    for example in examples:
        digest.update(json.dumps(example_record(example)).encode())
    return digest.hexdigest()
