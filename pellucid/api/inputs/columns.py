"""Examples from tables of any kind: which column holds the texts, which the labels, and each row as an example."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pellucid.api.inputs.readings import ReadingRequest, notify_reading
from pellucid.api.inputs.values import in_words, is_missing, label_text, plain
from pellucid.core.foundation.checks import known
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.json_text import parsed
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.text.example import Example, Rationale
from pellucid.datasets.shared.fields import TEXTS, label_field

Columns = Mapping[str, Sequence[Any]]
OURS = {"segments", "label", "rationales", "id", "meta"}  # the columns that `to_dataset` writes
LABELS = ("labels", "class", "category", "sentiment", "polarity", "target", "stars", "rating", "gold")
WITH_BLANKS = 0.5  # share of values with a blank inside, from which on a column holds sentences


def columns_of(data: Any) -> Columns | None:
    """The columns of a table, by name; None for what is no table. Raises `BadInput` for several tables, or broken ones."""
    read = _column_reader(data)
    if read is None:
        return None
    try:
        columns = read(data)
    except BadInput:
        raise
    except Exception as error:  # a table of another library, or something that only looks like one
        raise BadInput(
            f"The columns of {type(data).__name__} cannot be read ({type(error).__name__}); give a list of texts."
        ) from None
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise BadInput(
            f"The columns have different lengths ({listed(map(str, sorted(lengths)))}); give one value a row."
        )
    return columns


def _column_reader(data: Any) -> Callable[[Any], Columns] | None:
    if isinstance(data, Mapping):
        return _of_mapping
    if hasattr(data, "features") and isinstance(getattr(data, "column_names", None), list):
        return _of_dataset
    if hasattr(data, "to_pydict"):  # a table of arrow
        return lambda table: {str(name): values for name, values in table.to_pydict().items()}
    if hasattr(data, "columns") and hasattr(data, "iloc"):  # of pandas
        return lambda frame: {str(name): frame.iloc[:, n].tolist() for n, name in enumerate(frame.columns)}
    if hasattr(data, "columns") and hasattr(data, "get_column"):  # of polars
        return lambda frame: {name: frame.get_column(name).to_list() for name in frame.columns}
    return None


def _of_mapping(data: Mapping[Any, Any]) -> Columns:
    """Columns of lists, or one row of plain values."""
    values = list(data.values())
    if any(
        hasattr(value, "column_names") or (hasattr(value, "iloc") and hasattr(value, "columns"))
        for value in values
    ):
        name = quoted(next(iter(data)))
        raise BadInput(
            f"The data have several parts ({listed(map(str, data))}); give one of them, such as data[{name}]."
        )
    if values and all(_is_list(value) for value in values):
        if any(hasattr(member, "example") for member in values[0]):  # methods side by side
            return _of_examples([member.example for member in values[0]])
        return {str(name): list(value) for name, value in data.items()}
    if any(_is_list(value) for value in values):
        raise BadInput(
            "Some values of the dictionary are lists and some are not; give a list for every column."
        )
    return {str(name): [value] for name, value in data.items()}


def _is_list(value: Any) -> bool:
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_sequence or (hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1)


def _of_examples(examples: Sequence[Example]) -> Columns:
    return {
        "segments": [one.segments for one in examples],
        "label": [one.label for one in examples],
        "rationales": [one.rationales for one in examples],
        "id": [one.id for one in examples],
        "meta": [one.meta for one in examples],
    }


def _of_dataset(data: Any) -> Columns:
    """Columns of texts, numbers and lists of a `datasets.Dataset`; class numbers become their names."""
    plain_kinds = ("Value", "ClassLabel", "List", "Sequence", "LargeList", "list")
    names = [name for name, kind in data.features.items() if type(kind).__name__ in plain_kinds]
    columns = data.select_columns(names)[:] if names else {}
    return {
        name: _named(values, getattr(data.features[name], "names", None)) for name, values in columns.items()
    }


def _named(values: Sequence[Any], names: Sequence[str] | None) -> list[Any]:
    if not names:
        return list(values)
    return [None if number is None or number < 0 else names[number] for number in values]


def examples_from_columns(columns: Columns, reading: ReadingRequest) -> tuple[Example, ...]:
    """The example of each row; says which columns were read, unless the caller named them or they are "text" and "label"."""
    if set(columns) >= OURS and not reading.names_columns:
        return tuple(
            map(_own_example, *(columns[name] for name in ("segments", "label", "rationales", "id", "meta")))
        )
    if not columns:
        raise BadInput("The table has no columns; give one with a column of texts.")
    texts = _text_columns(columns, reading)
    label = _label_column(columns, texts, reading)
    if not reading.text_names and (texts, label) not in ((("text",), None), (("text",), "label")):
        notify_reading(_which(texts, label))
    rows = range(len(columns[texts[0]]))
    return tuple(_example(columns, row, texts, label) for row in rows)


def _text_columns(columns: Columns, reading: ReadingRequest) -> tuple[str, ...]:
    """The columns of the texts: those that the caller named, the usual ones, or the only one that holds sentences."""
    for name in reading.text_names:
        known("column", name, columns)
    if reading.text_names:
        return reading.text_names
    by_case: dict[str, str] = {}
    for name in (name for name in columns if _holds_strings(columns[name])):
        by_case.setdefault(name.casefold(), name)
    for usual in TEXTS:
        if all(name in by_case for name in usual):
            return tuple(by_case[name] for name in usual)
    sentences = [name for name in by_case.values() if _holds_sentences(columns[name])]
    if len(sentences) == 1 or len(by_case) == 1:
        return tuple(sentences[:1] or by_case.values())
    which = (
        f"the texts could be in {listed(sentences)}"
        if sentences
        else "no column is plainly that of the texts"
    )
    raise BadInput(f"In this table {which}; name it with text=. Its columns are: {listed(columns)}.")


def _holds_strings(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in values) or not len(values)


def _holds_sentences(values: Sequence[Any]) -> bool:
    texts = [value.strip() for value in values if isinstance(value, str)]
    return sum(" " in text for text in texts) > WITH_BLANKS * max(len(texts), 1)


def _label_column(columns: Columns, texts: Sequence[str], reading: ReadingRequest) -> str | None:
    """The column of the labels: the one that the caller named, "label", one whose values are classes, or a usual one."""
    if reading.label is not None:
        known("column", str(reading.label), columns)
        return str(reading.label)
    others = [name for name in columns if name not in texts]
    if (usual := label_field(others, None)) is not None:
        return usual
    classes = [name for name in others if _holds_only(columns[name], reading.labels)]
    by_name = [name for name in others if name.casefold() in ("label", *LABELS)]
    return next(iter((*classes, *by_name)), None)


def _holds_only(values: Sequence[Any], labels: Sequence[str]) -> bool:
    present = {str(plain(value)) for value in values if not is_missing(value)}
    return bool(present) and present <= set(labels)


def _which(texts: Sequence[str], label: str | None) -> str:
    columns = " and ".join(map(quoted, texts))
    kind = "the texts" if len(texts) == 1 else "the two texts of pairs"
    read = f"Read the column{'s' * (len(texts) - 1)} {columns} as {kind}"
    if label is None:
        return f"{read}, and no labels; give text= and label= to choose others."
    return f"{read} and {quoted(label)} as the labels; give text= and label= to choose others."


def _example(columns: Columns, row: int, texts: Sequence[str], label: str | None) -> Example:
    segments = tuple(_text(columns[name][row], name, row) for name in texts)
    used = {*texts, label, "id"}
    meta = {name: _simple(values[row]) for name, values in columns.items() if name not in used}
    name = plain(columns["id"][row]) if "id" in columns and "id" not in texts else row
    gold = label_text(columns[label][row], row) if label else None
    return Example(segments, gold, id=str(row if is_missing(name) else name), meta=meta)


def _text(value: Any, column: str, row: int) -> str:
    if isinstance(value, str) and value.strip():
        return str(value)
    what = "empty" if isinstance(value, str) else in_words(value)
    raise BadInput(
        f"The text in row {row} of the column {quoted(column)} is {what}; leave such rows out, or name another column with "
        "text=."
    )


def _simple(value: Any) -> Any:
    """A value of another column as a file can hold it."""
    value = plain(value)
    if is_missing(value):
        return None
    return value if isinstance(value, str | int | float | bool) else str(value)


def _own_example(segments: Any, label: Any, rationales: Any, id: str, meta: Any) -> Example:
    """A row that `to_dataset` wrote."""
    marks = tuple(one if isinstance(one, Rationale) else Rationale(**one) for one in rationales)
    return Example(tuple(segments), label, marks, id, parsed(meta) if isinstance(meta, str) else meta)
