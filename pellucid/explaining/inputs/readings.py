"""How a door reads what it gets: what is to be explained, what is decided for the caller, and the notice of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from pellucid.base.catalogue import ALL, Choice
from pellucid.base.checks import choices, clipped, listed, listed_members, quoted
from pellucid.base.errors import BadInput, BadSetting, InputReading, ModelCannot, notify
from pellucid.base.kinds import attributions
from pellucid.base.kinds import metrics as known_metrics
from pellucid.models.writing.continuing import continued
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.hidden_target import StateTarget
from pellucid.run.labels import PREDICTED, Labels
from pellucid.run.model import WRITING, Model
from pellucid.run.target import Output, Target, TargetName
from pellucid.run.word import TEXT, Word
from pellucid.text.example import Example
from pellucid.text.passages import turns_of


@dataclass(frozen=True)
class ReadingRequest:
    """How data shall be read.

    text: the column of the texts, or two for pairs; None: the one that is plainly meant. label: that of the labels.
    labels: the names that a label may have; empty: not known. names_data: whether a string is a data set or file rather
    than a text. split: the part of data that has parts. skip_bad_rows: whether rows that cannot be read are left out.
    """

    text: str | Sequence[str] | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    names_data: bool = False
    split: str = "test"
    skip_bad_rows: bool = False

    def __post_init__(self) -> None:
        if self.text is not None and not 1 <= len(self.text_names) <= 2:
            raise BadSetting(f"text={quoted(self.text)} is no column; give its name, or two names for pairs.")
        if self.label is not None and not isinstance(self.label, str | int):
            raise BadSetting(f"label={quoted(self.label)} is no column; give the name of one.")

    @property
    def text_names(self) -> tuple[str, ...]:
        """The columns of the texts that the caller named: none, one, or two for pairs."""
        if self.text is None:
            return ()
        if isinstance(self.text, str | int):
            return (str(self.text),)
        names = self.text if isinstance(self.text, list | tuple) else ()
        return tuple(names) if all(isinstance(name, str) for name in names) else ()

    @property
    def names_columns(self) -> bool:
        """Whether the caller named a column."""
        return self.text is not None or self.label is not None

    def without_columns(self, data: Any) -> None:
        """Raise `BadSetting` where columns are named of what has none."""
        if self.names_columns:
            raise BadSetting(
                f"text= and label= name columns of a table; {type(data).__name__} has none. Leave them away, or give a "
                "data frame, a dictionary of lists or a file."
            )


def notify_reading(sentence: str) -> None:
    """Say how something was read."""
    notify(sentence, InputReading)


# Single values of rows and columns: labels as strings, missing values, and what a value is in words.


def plain(value: Any) -> Any:
    """A number of numpy, arrow or torch as Python's own."""
    if isinstance(value, str | bytes | list | tuple | Mapping) or getattr(value, "ndim", None):
        return str(value) if isinstance(value, str) else value
    for name in ("item", "as_py"):
        if callable(method := getattr(value, name, None)):
            return method()
    return value


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, not-a-number, or pandas' own signs of it."""
    return value is None or (isinstance(value, float) and isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def label_text(value: Any, row: int) -> str | None:
    """A label as a string; None for a missing one. Raises `BadInput`, with the row, for what is no label."""
    value = plain(value)
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return ", ".join(value) or None
    if isinstance(value, str | bool):
        return str(value).strip()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        as_number = float(value)
        return str(int(as_number)) if as_number.is_integer() else str(as_number)
    raise BadInput(f"The label of row {row} is {in_words(value)}; give a word or a number.")


def in_words(value: Any) -> str:
    """What a value is: "missing (nan)", "the number 5", "a list of 3 members"."""
    value = plain(value)
    if is_missing(value):
        return f"missing ({clipped(repr(value))})"
    if isinstance(value, bytes):
        return "bytes, which have to be decoded"
    if isinstance(value, bool) or not isinstance(value, Real):
        size = f" of {len(value)} members" if isinstance(value, list | tuple) else ""
        return f"{type(value).__name__}{size}"
    return f"the number {quoted(value)}"


# The types of what doors accept, for signatures: data of any kind, and what stands for a model.

# A string, a pair, examples, rows, columns, a table or data set of another library, or where one is read from.
Data = str | Path | Example | Iterable[Any] | Mapping[str, Any] | Any
# A model of ours, a folder or hub name, a fitted pipeline, or a function without arguments that returns one of these.
ModelSource = Model | str | Path | Any


# What a caller wants explained, as the rooms read it: a class, a hidden state, or words that a model writes.

# Metrics that read nothing but the probability of what is explained.
OF_TEXTS = ("comprehensiveness", "sufficiency")


ExplainedName = TargetName | list[str | int] | Labels | StateTarget | Word


def explained_target(model: Model, target: ExplainedName, output: Output) -> Target | StateTarget | Word | Labels:
    """The target as asked for; of a model that writes, words. Raises `BadSetting` for an output that it does not
    have.
    """
    if isinstance(target, Labels | list) or _names_several(target, model):
        return _labels(model, target if isinstance(target, Labels) else Labels(target), output)  # type: ignore[arg-type]
    if isinstance(model, WritingModel) and not isinstance(target, StateTarget | Word):
        target = _word(target)
    if not isinstance(target, StateTarget | Word):
        return Target(target, output)
    if output != "logit":
        states = isinstance(target, StateTarget)
        what = "a hidden state has no probability and no loss" if states else "a word has its log-probability"
        raise BadSetting(f"output={output!r} belongs to classes; {what}.")
    return target


def _names_several(target: object, model: Model) -> bool:
    """Whether a word stands for several labels."""
    return isinstance(target, str) and target in (PREDICTED, ALL) and target not in model.labels


def _labels(model: Model, target: Labels, output: Output) -> Labels:
    """Several labels with their output; raises `ModelCannot` for a model without labels, or one that predicts none."""
    if WRITING in model.capabilities or model.problem == "regression":
        raise ModelCannot(f"{model.name} gives texts no labels; name one thing that is to be explained.")
    if model.problem == "log_probability" and target.which == PREDICTED:
        raise ModelCannot(
            f"{model.name} answers by a part of the text and predicts no labels; give target='all', or a list of "
            f"{listed(list(model.labels))}."
        )
    return replace(target, output=output)


def _word(target: TargetName) -> Word:
    """The word of a name or number, or one against another; "predicted" is each word of the text."""
    if isinstance(target, tuple):
        word, against = target
        return Word(word, str(against))
    if isinstance(target, str) and target.isdecimal():
        return Word(int(target))
    return Word() if target == "predicted" else Word(target)


def to_explain(model: Model, examples: Sequence[Example]) -> tuple[Example, ...]:
    """The examples; of a model that writes, each with the text that it writes where only the first was given."""
    if not isinstance(model, WritingModel):
        return tuple(examples)
    return tuple(continued(model, example) for example in examples)


def judged_target(model: Model, target: TargetName | Word) -> Target | Word:
    """What explanations that metrics judge explain: a class, or of a model that writes the whole text.

    Raises `BadSetting` for another target of a model that writes.
    """
    if WRITING not in model.capabilities:
        if isinstance(target, Labels | list) or _names_several(target, model):
            raise BadSetting(
                f"target={quoted(target)} is several labels, and metrics judge one a text; name one class."
            )
        return Target(target)  # type: ignore[arg-type]
    if target in ("predicted", TEXT, Word(TEXT)):
        return Word(TEXT)
    raise BadSetting(
        f"target={quoted(target)} is not possible: of {model.name}, which writes texts, metrics judge explanations of "
        f"the whole text; leave target away."
    )


# Which passages a caller names: some for every text, or some for each.

Passages = Sequence[str] | Sequence[Sequence[str]]
MESSAGE, MESSAGES = "message", "messages"  # the unit, and what stands for all messages of a chat


def by_message(choices: Sequence[Choice], passages: Passages | None) -> tuple[list[Choice], Passages | None]:
    """Methods without the unit "message", for which each message of a chat then is a passage."""
    pairs = [(choice, {}) if isinstance(choice, str) else choice for choice in choices]
    units = [unit for _, settings in pairs if isinstance(unit := settings.get("unit", MESSAGE), str)]
    if len(units) < len(pairs) or not any(settings.get("unit") == MESSAGE for _, settings in pairs):
        return list(choices), passages
    is_plain = passages is None or (isinstance(passages, str) and passages == MESSAGES)
    if not is_plain or any(unit != MESSAGE for unit in units):
        raise BadSetting("unit='message' is of all methods of a call, and takes no other passages; leave them away.")
    rest = [(name, {key: value for key, value in settings.items() if key != "unit"}) for name, settings in pairs]
    return [(name, settings) if settings else name for name, settings in rest], MESSAGES


def named_passages(passages: Passages | None, examples: Sequence[Example]) -> list[tuple[str, ...]] | None:
    """The passages of each text; None where there are none.

    passages: a list of strings, which stand in every text, a list of such lists, one a text, or "messages", those of
    each chat. Raises `BadInput` for anything else.
    """
    count = len(examples)
    if passages is None:
        return None
    if isinstance(passages, str) and passages == MESSAGES:
        if plain_texts := [example.id for example in examples if not turns_of(example)]:
            raise BadInput(f"Text {quoted(plain_texts[0])} is no chat and has no messages; give chats, or passages.")
        return [tuple(example.segments[0][turn.start : turn.end] for turn in turns_of(example)) for example in examples]
    members = None if isinstance(passages, str) else listed_members(passages)
    if not members:
        raise BadInput(f"passages={quoted(passages)} names none; give a list of parts of the text.")
    if all(isinstance(member, str) for member in members):
        return [tuple(map(str, members))] * count
    lists = [None if isinstance(member, str) else listed_members(member) for member in members]
    if [] in lists:
        raise BadInput(
            f"passages= names none for text {lists.index([])}; explain texts without passages in a call of their own."
        )
    if not all(of_text and all(isinstance(passage, str) for passage in of_text) for of_text in lists):
        raise BadInput("passages= are strings, or a list of strings for each text; something else came.")
    if len(lists) != count:
        raise BadInput(f"passages= has {len(lists)} lists for {count} texts; give one a text.")
    return [tuple(map(str, of_text or ())) for of_text in lists]


# Which methods and metrics run when the caller names none, or "all".


def default_method(model: Model, target: ExplainedName = "predicted", output: str = "logit") -> str:
    """The method where none is named: a self-explaining model's own, else integrated gradients, else occlusion.

    A model's own weights say which words the answer was read from; another class, or another number than the logit,
    they cannot explain. Of a model that writes, span attention where it has span weights, else occlusion; occlusion too
    for the similarity of two texts.
    """
    of_its_own = ("span_attention", "rationale", "b_cos") if target == "predicted" and output == "logit" else ()
    if WRITING in model.capabilities:
        words = not isinstance(target, Word) or target.against is None
        # Edited texts serve all words at once.
        return "span_attention" if words and "span_weights" in model.capabilities else "occlusion"
    if getattr(model, "compares_texts", False):  # two blank texts are as alike as can be
        return "occlusion"
    works = supported_methods(model)
    return next(name for name in (*of_its_own, "integrated_gradients", "occlusion") if name in works)


def methods_to_run(model: Model, methods: Iterable[Choice] | None) -> tuple[list[Choice], frozenset[str]]:
    """The methods to run, and the names of those that "all" stands for."""
    listed = [ALL] if methods is None else choices("methods", methods)
    named = [choice for choice in listed if choice != ALL]
    if ALL not in listed:
        return named, frozenset()
    names = {attributions.full_name(choice if isinstance(choice, str) else choice[0]) for choice in named}
    usual = [str(choice) for choice in usual_methods(model) if choice not in names]
    return [*usual, *named], frozenset(usual)


def usual_methods(model: Model) -> list[Choice]:
    """The names of the usual methods that the model supports: those that run without being named."""
    return [name for name in supported_methods(model) if attributions.get(str(name)).facts["usual"]]


def supported_methods(model: Model) -> list[Choice]:
    """The names of all methods that need nothing that the model lacks."""
    return [name for name in attributions.names() if not attributions.get(name).facts["needs"] - model.capabilities]


def default_metrics(model: Model, examples: Sequence[Example]) -> list[Choice]:
    """All usual metrics; where a label is not one of the model's classes, metrics use its prediction instead of the
    label.

    Of a model that writes or answers questions those that judge what it says.
    """
    if WRITING in model.capabilities or model.problem == "log_probability":
        return [*OF_TEXTS]
    strange = any(example.label not in model.labels for example in examples)
    usual = [name for name in known_metrics.names() if known_metrics.get(name).facts["usual"]]
    names = sorted(usual, key=lambda name: known_metrics.get(name).facts["column"])
    by_prediction = {"reference": "prediction"}
    return [
        (name, by_prediction) if strange and "reference" in known_metrics.get(name).defaults else name for name in names
    ]
