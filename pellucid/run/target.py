"""What reads hidden states back as words: for each state, how likely each token of the vocabulary is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

import torch
from torch import Tensor

from pellucid.base.checks import in_syntax, known, listed, one_of, quoted
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.memory import to_device
from pellucid.results.explanation import Explained
from pellucid.run.batch import Row
from pellucid.run.readout import LOGITS, Readout, WindowAnswers
from pellucid.text.example import Example


@dataclass(frozen=True, eq=False)
class NamedTokens:
    """What a head makes of states: log_probabilities [place k] of k tokens, and the id of the likeliest token
    [place].
    """

    log_probabilities: Tensor
    most_likely: Tensor


class LanguageHead(Protocol):
    """Names tokens from hidden states [place width].

    digest: of its weights and vocabulary. description: one line, which stands in the settings of each result. width:
    numbers of a state. n_tokens: tokens of its vocabulary. trained_on: "the encoder before fine-tuning" or "the
    classifier". vocabulary: a digest of token -> id, which must be the classifier's.
    """

    @property
    def digest(self) -> str:
        """Of weights and vocabulary."""
        ...

    @property
    def description(self) -> str:
        """One line that stands with results."""
        ...

    @property
    def width(self) -> int:
        """Numbers of a state."""
        ...

    @property
    def n_tokens(self) -> int:
        """Tokens that it can name."""
        ...

    @property
    def trained_on(self) -> str:
        """Whose states it learnt to read."""
        ...

    @property
    def vocabulary(self) -> str:
        """A digest of token -> id."""
        ...

    def log_probabilities(self, states: Tensor, layer: int, ids: Sequence[int]) -> Tensor:
        """[place width] of a layer -> [place k]: natural logarithms for k ids; the normaliser is that of all tokens."""
        ...

    def most_likely(self, states: Tensor, layer: int) -> Tensor:
        """[place width] of a layer -> [place]: the id of the likeliest token."""
        ...

    def name_tokens(self, states: Tensor, layer: int, ids: Sequence[int]) -> NamedTokens:
        """Both of the above from one product with the vocabulary, which costs more than all else."""
        ...


def head_settings(head: LanguageHead) -> dict[str, str]:
    """What the settings of a result say of the head that was used."""
    return {
        "language_head": f"{head.description}, trained on {head.trained_on}",
        "language_head_digest": head.digest,
    }


# The target: a class's logit, its probability or its loss; or one class against another.

Output = Literal["logit", "probability", "loss"]
LIKELIHOOD = "log-likelihood"  # the "logit" of an answer that stands in the text, in nats
# "log_probability": of several answers that do not exclude each other, of which the first is the model's.
Problem = Literal["single_label", "multi_label", "one_logit", "regression", "log_probability"]
TargetName = str | int | tuple[str | int, str | int]


def probabilities(logits: Tensor, problem: Problem) -> Tensor:
    """[..., class] logits -> probabilities: softmax, or an independent sigmoid a class, or as they are."""
    if problem == "single_label":
        return logits.softmax(-1)
    if problem == "log_probability":
        return logits.exp()
    if problem == "regression":
        raise BadSetting("A regression model has no probabilities; explain output='logit' (its value).")
    return logits.sigmoid()


def class_logits(logits: Tensor, problem: Problem) -> Tensor:
    """[..., logit] -> [..., class]: one score a class; a single binary logit z becomes (-z, z)."""
    return torch.cat([-logits, logits], -1) if problem == "one_logit" else logits


def difference(scores: Tensor, others: Tensor, problem: Problem) -> Tensor:
    """Two classes' scores as log odds; those of a single logit, -z and z, differ by twice its log odds z."""
    return (scores - others) / 2 if problem == "one_logit" else scores - others


@dataclass(frozen=True)
class Target:
    """Which class, and which output of it.

    of: "predicted", "gold", a class's name or number, or a pair of classes ("why A and not B?"). output: "logit",
    "probability" in [0, 1], or "loss", the negative log probability.
    """

    of: TargetName = "predicted"
    output: Output = "logit"

    def __post_init__(self) -> None:
        one_of("output", self.output, get_args(Output))
        names = self.of if isinstance(self.of, tuple) else (self.of,)
        if (
            len(names) > 2
            or (isinstance(self.of, tuple) and len(names) < 2)
            or any(isinstance(name, bool) or not isinstance(name, str | int) for name in names)
        ):
            raise BadSetting(
                f"target={quoted(self.of)} is not possible; give a class name or number, or a pair of them."
            )
        if isinstance(self.of, tuple) and self.output != "logit":
            raise BadSetting("A contrast of two classes is a difference of logits; give output='logit'.")

    def in_words(self, labels: Sequence[str]) -> str:
        """The target in words: "logit of the predicted class"."""
        explained, against = self.of if isinstance(self.of, tuple) else (self.of, None)
        by_example = {"predicted", "gold"} - set(labels)
        which = f"the {explained} class" if explained in by_example else labels[_class_number(explained, labels)]
        rest = "" if against is None else f" against {labels[_class_number(against, labels)]}"
        return f"{self.output} of {which}{rest}"

    def resolve(
        self, examples: Sequence[Example], logits: Tensor, labels: Sequence[str], problem: Problem
    ) -> "ResolvedTarget":
        """Fix the class of each example by the model's logits [example logit]."""
        scores = class_logits(logits, problem)
        explained, against = self.of if isinstance(self.of, tuple) else (self.of, None)
        if problem == "log_probability":
            explained = _of_answer(explained, examples[0])
        classes = tuple(
            self._class(explained, example, row, labels) for example, row in zip(examples, scores, strict=True)
        )
        others = None if against is None else (_class_number(against, labels),) * len(classes)
        for example, row, numbers in zip(examples, scores, zip(classes, others or classes, strict=True), strict=True):
            _check_finite(example, row, numbers, labels)
        return ResolvedTarget(classes, others, self.output, problem)

    def _class(self, explained: str | int, example: Example, scores: Tensor, labels: Sequence[str]) -> int:
        if explained == "predicted" and "predicted" not in labels:
            return int(scores.argmax())
        if explained == "gold" and "gold" not in labels:
            if example.label is None:
                raise BadInput(f"target='gold', but example {quoted(example.id)} has no label; use target='predicted'.")
            return _gold_number(example.label, example, labels)
        return _class_number(explained, labels)


def _of_answer(explained: str | int, example: Example) -> str | int:
    """What is explained of an answer in the text; raises `BadInput` for a gold one, which no label names."""
    if explained == "gold":
        way = in_syntax("answer='…' names it, with target='predicted'", "--answer names it, without --target")
        raise BadInput(
            f"target='gold' is a label, and the gold answer of example {quoted(example.id)} is a part of its text: "
            f"{way}."
        )
    return 0 if explained == "predicted" else explained


def _check_finite(example: Example, scores: Tensor, classes: Sequence[int], labels: Sequence[str]) -> None:
    """Raise `ModelCannot` for a class that the model rules out for a text: no word can change an infinite logit."""
    for class_number in classes:
        if scores[class_number].isinf():
            raise ModelCannot(
                f"The model gives the class {quoted(labels[class_number])} the logit {float(scores[class_number])} for "
                f"example {quoted(example.id)}, which no word of it explains; explain another class."
            )


def _gold_number(label: str, example: Example, labels: Sequence[str]) -> int:
    """The number of the class that a label names; raises `BadInput` where it names none or several."""
    names = {name.strip() for name in label.split(",")} - {""}
    if label not in labels and len(names) != 1:
        raise BadInput(
            f"target='gold' needs one class a text, but example {quoted(example.id)} has {len(names)} labels: "
            f"{quoted(label)}. Give target='predicted' or one of the classes: {listed(labels)}."
        )
    return _class_number(label, labels)


def _class_number(name: str | int, labels: Sequence[str]) -> int:
    """The number of a class by its name, or by its number where no class has that name."""
    if isinstance(name, str) and name.isdecimal() and name not in labels:
        name = int(name)
    if isinstance(name, int):
        if not 0 <= name < len(labels):
            raise BadSetting(
                f"target={quoted(name)}, but the model has classes 0 to {len(labels) - 1}: {listed(labels)}."
            )
        return name
    known("class", name, labels)
    return list(labels).index(name)


class Explainable(Protocol):
    """A target as methods see it: a number for every answer of the model.

    `ResolvedTarget` is that of classes, `hidden_target.ResolvedState` that of hidden states.
    """

    @property
    def readout(self) -> Readout:
        """Reads the model's answer off a pass."""
        ...

    def values(self, answers: Tensor) -> Tensor:
        """[example answer] -> [example]: the explained value of each example."""
        ...

    def values_of(self, example: int, answers: Tensor) -> Tensor:
        """[variant answer] -> [variant]: the explained value of variants of one example."""
        ...

    def select(self, indices: Sequence[int]) -> "Explainable":
        """The target of these examples."""
        ...

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The explained value with its name; answer: the example's own."""
        ...

    def pieces_read(self, rows: Sequence[Row]) -> list[list[int]] | None:
        """For each row the numbers of the pieces from whose last states the value is read; None: those that the head
        reads.
        """
        ...


@dataclass(frozen=True)
class ResolvedTarget:
    """A target with the class of each example fixed, so that the same class is explained for edited inputs.

    classes, against: [example], numbers of classes. windows: for windows of longer texts, the logits that a probability
    or loss of the whole text depends on; None where no example is a window. shared_points: of one label among several,
    what it shares with the others.
    """

    classes: tuple[int, ...]
    against: tuple[int, ...] | None
    output: Output
    problem: Problem
    windows: WindowAnswers | None = None
    shared_points: Any = field(default=None, compare=False, repr=False)

    def values(self, logits: Tensor) -> Tensor:
        """[example logit] -> [example]: the explained value of each row."""
        classes = torch.tensor(self.classes, dtype=torch.long)
        against = None if self.against is None else torch.tensor(self.against, dtype=torch.long)
        if self.windows is None or self.output == "logit":
            return self._values(logits, classes, against)
        return self.windows.numbers(lambda moved: self._values(moved, classes, against), logits)

    def values_of(self, example: int, logits: Tensor) -> Tensor:
        """[variant logit] -> [variant]: the explained value of variants of one example."""
        return self.select([example] * len(logits)).values(logits)

    @property
    def readout(self) -> Readout:
        """Reads the logits off a pass."""
        return LOGITS

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """The explained value with its name; answer: the example's own logits [logit]."""
        against = None if self.against is None else labels[self.against[example]]
        value = float(self.values_of(example, answer[None].double()))
        is_likelihood = self.problem == "log_probability" and self.output == "logit"
        return Explained(labels[self.classes[example]], against, LIKELIHOOD if is_likelihood else self.output, value)

    def pieces_read(self, rows: Sequence[Row]) -> None:
        """Those that the head reads."""
        return

    def select(self, indices: Sequence[int]) -> "ResolvedTarget":
        """The target of these examples."""
        against = None if self.against is None else tuple(self.against[i] for i in indices)
        windows = None if self.windows is None else self.windows.select(indices)
        return replace(self, classes=tuple(self.classes[i] for i in indices), against=against, windows=windows)

    def _values(self, logits: Tensor, classes: Tensor, against: Tensor | None) -> Tensor:
        pick = lambda scores, indices: scores.gather(-1, to_device(indices, scores.device)[:, None])[:, 0]  # noqa: E731
        if self.output == "logit":
            every_class = class_logits(logits, self.problem)
            explained = pick(every_class, classes)
            if against is None:
                return explained
            return difference(explained, pick(every_class, against), self.problem)
        log_probabilities = pick(_log_probabilities(logits, self.problem), classes)
        return log_probabilities.exp() if self.output == "probability" else -log_probabilities


def _log_probabilities(logits: Tensor, problem: Problem) -> Tensor:
    if problem == "single_label":
        return logits.log_softmax(-1)
    if problem == "log_probability":
        return logits
    if problem == "regression":
        raise BadSetting("A regression model has no probabilities; explain output='logit' (its value).")
    return torch.nn.functional.logsigmoid(class_logits(logits, problem))


def class_probabilities(logits: Tensor, problem: Problem) -> Tensor:
    """[..., logit] -> [..., class] probabilities."""
    return probabilities(class_logits(logits, problem), problem)
