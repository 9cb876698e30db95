"""Examples from whatever users have: strings, pairs, examples, tables, data sets, files, and results of other doors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Literal

from pellucid.base.checks import in_syntax, listed
from pellucid.base.errors import BadInput, InputReading, OtherSegments, UnmatchedLabels, notify
from pellucid.base.torch_state import check_computes
from pellucid.data.shared.columns import expected_labels
from pellucid.explaining.inputs.chats import Template, answers_to, chat_examples, chats_in, with_answers
from pellucid.explaining.inputs.data_source import examples_from_path, examples_from_string
from pellucid.explaining.inputs.models import is_model
from pellucid.explaining.inputs.readings import ExplainedName, ReadingRequest, plain
from pellucid.explaining.inputs.rows import examples_from_columns, examples_from_rows, good_rows, table_columns
from pellucid.models.classifiers.answer_places import with_places
from pellucid.models.classifiers.bi_encoder import TwoTexts
from pellucid.run.model import WRITING, Model, answers_for_places
from pellucid.text.example import Example, check_no_prompt
from pellucid.text.features import FeatureColumns
from pellucid.text.label_map import LabelMap, label_caution, with_label_map

# Labels of a door's examples beside the classes of its model: renamed by a map, or a notice where they are no
# classes.

StrangeLabels = Literal["notice", "error", "allowed"]


def fitting(
    model: Model, examples: Sequence[Example], label_map: LabelMap | None, strange: StrangeLabels = "notice"
) -> tuple[Example, ...]:
    """The examples with labels renamed by the map; without one, `strange` says what labels that are no classes lead
    to.
    """
    if label_map is not None:
        return with_label_map(examples, label_map, model.labels, model.problem == "multi_label")
    sentence = "" if strange == "allowed" else strange_labels(model, examples)
    if sentence and strange == "error":
        raise BadInput(sentence)
    if sentence:
        notify(sentence, UnmatchedLabels)
    return tuple(examples)


def strange_for(target: ExplainedName) -> StrangeLabels:
    """What labels that are no classes lead to: an error where the target is the gold class, else a notice."""
    return "error" if reads_label(target) else "notice"


def reads_label(target: ExplainedName) -> bool:
    """Whether what is explained depends on a text's label."""
    parts = target if isinstance(target, tuple) else (target,)
    return any(isinstance(part, str) and part == "gold" for part in parts)


def strange_labels(model: Model, examples: Sequence[Example]) -> str:
    """One sentence on labels that are no classes of the model; empty where all are, or where the model has no
    classes.
    """
    if model.problem == "regression":
        return ""
    return label_caution(examples, model.labels, model.problem == "multi_label")


WAYS = "give a string, a pair, a list of them, a data frame, a pathlib.Path of a file, or examples"


def examples_for(
    model: Model,
    data: Any,
    *,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    names_data: bool = False,
    split: str = "test",
    skip_bad_rows: bool = False,
    strange: StrangeLabels = "notice",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
) -> tuple[Example, ...]:
    """The examples of a door's data under the model's class names.

    label_map: label -> class. strange: what labels that are no classes of the model lead to: a notice, an error
        (`BadInput`) with the map to write, or nothing. answer, template: of chats, and answer of other prompts, too.
        The others are as in `examples_from`.
    """
    check_computes()
    if (chats := chats_in(data)) is not None:
        return chat_examples(model, chats, answer, template)
    if type(data) is tuple and len(data) == 2 and _reads_pairs_alone(model):
        data = [data]
    columns: FeatureColumns | None = getattr(model, "columns", None)  # of a model of texts and numbers
    examples = examples_from(
        data,
        text=text,
        label=label,
        labels=model.labels,
        label_map=label_map,
        names_data=names_data,
        split=split,
        skip_bad_rows=skip_bad_rows,
        prompts=WRITING in model.capabilities,
        columns=columns,
    )
    if answers_for_places(model):
        return with_places(model, examples, [*answers_to(answer, len(examples))])
    if columns is None and hasattr(model, "columns"):
        _notice_numbers(model, examples)
    if columns is not None:
        reading = ReadingRequest(skip_bad_rows=skip_bad_rows)
        examples = good_rows(examples, lambda example, _: columns.beside(example), reading)
    if answer is not None:
        if WRITING not in model.capabilities:
            raise BadInput(f"An answer came, and {model.name} classifies texts; leave answer= away.")
        examples = with_answers(examples, answer)
    notice_segments(model, examples)
    return fitting(model, examples, label_map, strange)


def _reads_pairs_alone(model: Model) -> bool:
    """Whether a model answers questions about a passage, or says how alike two texts are: a tuple is a pair then."""
    answers, form = getattr(model, "piece_answers", None), getattr(model, "form", None)
    return isinstance(form, TwoTexts) or (answers is not None and answers.kind == "answer")


PLAIN_NUMBERS = ("id", "index", "row", "label", "split", "group")  # columns that no function is expected to read


def _notice_numbers(model: Model, examples: Sequence[Example]) -> None:
    """Say which columns of numbers stand beside the texts of a function that reads texts alone."""
    meta = examples[0].meta if examples else {}
    numbers = [
        name
        for name, value in meta.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and name not in PLAIN_NUMBERS
    ]
    if numbers:
        notify(
            f"{model.name} is a function of texts and does not get {listed(numbers)} of each row; to let it read rows, "
            f"and to explain these numbers, give from_function(…, columns={numbers}, background=rows).",
            InputReading,
        )


def examples_from(
    data: Any,
    *,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    labels: Sequence[str] = (),
    label_map: LabelMap | None = None,
    names_data: bool = False,
    split: str = "test",
    skip_bad_rows: bool = False,
    prompts: bool = False,
    columns: FeatureColumns | None = None,
) -> tuple[Example, ...]:
    """Examples from what users have; what can be read in one way alone is read so, and a notice says how.

    data: a string, a pair, an `Example`, a list or iterator of them; a data frame, series, table, dictionary or
        `datasets.Dataset`; the `pathlib.Path` of a file or folder; a `DataSource`; results of another door.
    text: the column of the texts, or two columns for pairs; None: the usual one, or the only one with sentences.
    label: the column of the labels; None: the usual one, or the one whose values are all in `labels`.
    labels: the classes of the model, if there is one: a second string that is one of them is a label, not a text.
    label_map: label -> class; its labels are labels too.
    names_data: whether a string names a data set, file or folder; else it is a text.
    split: the part to read of data that has parts.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    prompts: whether the first text is a prompt, which may be empty.
    columns: those that the model reads beside the text; they are neither texts nor labels.

    Raises `BadInput` for what is no text, or could be two things; `UnknownName` for a column that is not there.
    """
    known = tuple(labels) + tuple(label_map if isinstance(label_map, Mapping) else ())
    reading = ReadingRequest(text, label, tuple(map(str, known)), names_data, split, skip_bad_rows)
    features = (None, ()) if columns is None else (columns.text, columns.kinds)
    with expected_labels(reading.labels, *features):
        examples = _reader(data)(data, reading)
    if not prompts and skip_bad_rows:
        return good_rows(examples, _without_empty_text, reading)
    if not prompts:
        check_no_prompt(examples)
    return examples


def _without_empty_text(example: Example, _: int) -> Example:
    check_no_prompt([example])
    return example


Reader = Callable[[Any, ReadingRequest], tuple[Example, ...]]


def _reader(data: Any) -> Reader:
    """The function that reads data of this kind; raises `BadInput` for what is no data."""
    if not isinstance(data, str) and getattr(data, "ndim", None) == 0 and isinstance(plain(data), str):
        return lambda text, reading: examples_from_string(plain(text), reading)
    if isinstance(data, str):
        return examples_from_string
    if isinstance(data, PurePath):
        return lambda path, reading: examples_from_path(Path(path), reading)
    if isinstance(data, Example):
        return examples_from_rows
    if is_model(data):
        raise BadInput(f"The texts came as a model ({type(data).__name__}); the model stands first, the texts second.")
    if isinstance(data, bytes | bytearray | memoryview):
        raise BadInput("The texts came as bytes; decode them first: data.decode('utf-8').")
    if isinstance(data, set | frozenset):
        raise BadInput("The texts came as a set, which has no order; give a list: sorted(texts).")
    if isinstance(data, type) or data is None:
        raise BadInput(f"The texts came as {'None' if data is None else data.__name__}; {WAYS}.")
    if callable(getattr(type(data), "examples", None)):  # a `DataSource`
        return _own_examples
    if (columns := table_columns(data)) is not None:
        return lambda _, reading: examples_from_columns(columns, reading)
    if not isinstance(data, Iterable):
        raise BadInput(f"The texts came as {type(data).__name__}; {WAYS}.")
    return examples_from_rows


def _own_examples(data: Any, reading: ReadingRequest) -> tuple[Example, ...]:
    reading.without_columns(data)
    return examples_from_rows(data.examples(), reading)


# Single texts and pairs beside what a model was trained on: a notice where they are not the same.

WORDS = {1: "single texts", 2: "pairs of texts"}
AS_PAIRS = (
    'write each as a pair: ("the first text", "the second")',
    "give the second text with --second, or a file with two columns of texts",
)
AS_SINGLE_TEXTS = "write each as one string", "leave --second away, or name one column of texts with --text"


def notice_segments(model: Model, examples: Sequence[Example]) -> None:
    """Say how many of the examples are pairs where the model was trained on single texts, or the other way round."""
    trained = getattr(model, "trained_segments", None)  # a `Classifier` has it
    if trained not in WORDS:
        return
    untrained = sum(len(example.segments) != trained for example in examples)
    if untrained:
        here = WORDS[3 - trained]
        advice = in_syntax(*(AS_PAIRS if trained == 2 else AS_SINGLE_TEXTS))
        notify(
            f"{model.name} was trained on {WORDS[trained]}, and {untrained} of {len(examples)} here are {here}, whose "
            f"prediction may mean nothing; {advice}.",
            OtherSegments,
        )
