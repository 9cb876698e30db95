"""Examples from tables of any kind: which column holds the texts, which the labels, and each row as an example."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pellucid.base.checks import known, listed, quoted
from pellucid.base.errors import BadInput, PellucidError
from pellucid.base.json_text import parsed
from pellucid.data.shared.columns import SAMPLE, Columns, columns_of, say_how_read
from pellucid.explaining.inputs.readings import ReadingRequest, in_words, is_missing, label_text, plain
from pellucid.text.example import Example, Rationale

ValuesByColumn = Mapping[str, Sequence[Any]]
OURS = {"segments", "label", "rationales", "id", "meta"}  # the columns that `to_dataset` writes


def table_columns(data: Any) -> ValuesByColumn | None:
    """The columns of a table, by name; None for what is no table.

    Raises `BadInput` for several tables, broken ones, and columns of one name.
    """
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


def _column_reader(data: Any) -> Callable[[Any], ValuesByColumn] | None:
    if isinstance(data, Mapping):
        return _of_mapping
    if hasattr(data, "features") and isinstance(getattr(data, "column_names", None), list):
        return _of_dataset
    if hasattr(data, "to_pydict"):  # a table of arrow
        return lambda table: _by_name(
            table.schema.names, [table.column(n).to_pylist() for n in range(len(table.schema.names))]
        )
    if hasattr(data, "columns") and hasattr(data, "iloc"):  # of pandas
        return lambda frame: _by_name(frame.columns, [frame.iloc[:, n].tolist() for n in range(len(frame.columns))])
    if hasattr(data, "columns") and hasattr(data, "get_column"):  # of polars
        return lambda frame: {name: frame.get_column(name).to_list() for name in frame.columns}
    return None


def _of_mapping(data: Mapping[Any, Any]) -> ValuesByColumn:
    """Columns of lists, or one row of plain values."""
    values = list(data.values())
    if any(
        hasattr(value, "column_names") or (hasattr(value, "iloc") and hasattr(value, "columns")) for value in values
    ):
        name = quoted(next(iter(data)))
        raise BadInput(
            f"The data have several parts ({listed(map(str, data))}); give one of them, such as data[{name}]."
        )
    if values and all(_is_list(value) for value in values):
        if any(hasattr(member, "example") for member in values[0]):  # methods side by side
            return _of_examples([member.example for member in values[0]])
        return _by_name(data, list(map(list, values)))
    if any(_is_list(value) for value in values):
        raise BadInput("Some values of the dictionary are lists and some are not; give a list for every column.")
    return _by_name(data, [[value] for value in values])


def _by_name(names: Iterable[Any], values: Sequence[Sequence[Any]]) -> ValuesByColumn:
    """Name -> values; raises `BadInput` where two columns have one name, since only one of them could be read."""
    texts = list(map(str, names))
    if twice := sorted({name for name in texts if texts.count(name) > 1}):
        raise BadInput(
            f"The table has several columns called {listed(map(quoted, twice))}; give each column a name of its own."
        )
    return dict(zip(texts, values, strict=True))


def _is_list(value: Any) -> bool:
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_sequence or (hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1)


def _of_examples(examples: Sequence[Example]) -> ValuesByColumn:
    return {
        "segments": [one.segments for one in examples],
        "label": [one.label for one in examples],
        "rationales": [one.rationales for one in examples],
        "id": [one.id for one in examples],
        "meta": [one.meta for one in examples],
    }


def _of_dataset(data: Any) -> ValuesByColumn:
    """Columns of texts, numbers and lists of a `datasets.Dataset`; class numbers become their names."""
    plain_kinds = ("Value", "ClassLabel", "List", "Sequence", "LargeList", "list")
    names = [name for name, kind in data.features.items() if type(kind).__name__ in plain_kinds]
    columns = data.select_columns(names)[:] if names else {}
    return {name: _named(values, getattr(data.features[name], "names", None)) for name, values in columns.items()}


def _named(values: Sequence[Any], names: Sequence[str] | None) -> list[Any]:
    if not names:
        return list(values)
    return [None if number is None or number < 0 else names[number] for number in values]


def examples_from_columns(columns: ValuesByColumn, reading: ReadingRequest) -> tuple[Example, ...]:
    """The example of each row, by the columns that a file of the same content would be read by; a notice says which."""
    if set(columns) >= OURS and not reading.names_columns:
        return tuple(map(_own_example, *(columns[name] for name in ("segments", "label", "rationales", "id", "meta"))))
    if not columns:
        raise BadInput("The table has no columns; give one with a column of texts.")
    which = _columns_to_read(columns, reading)
    say_how_read("the table", "", which)
    return tuple(_example(columns, row, which.texts, which.label) for row in range(len(columns[which.texts[0]])))


def _columns_to_read(columns: ValuesByColumn, reading: ReadingRequest) -> Columns:
    """The columns of the texts and of the label; raises `BadInput` where the texts could be in several, or are in
    none.
    """
    for name in (*reading.text_names, *([] if reading.label is None else [str(reading.label)])):
        known("column", name, columns)
    text, second = (*reading.text_names, None, None)[:2]
    n_rows = min(SAMPLE, *map(len, columns.values()))
    rows = [{name: _cell(values[row]) for name, values in columns.items()} for row in range(n_rows)]
    label = None if reading.label is None else str(reading.label)
    try:
        return columns_of(list(columns), rows, text, second, label)
    except PellucidError:
        raise
    except ValueError as error:
        raise BadInput(f"The table: {error}; its columns are: {listed(columns)}.") from None


def _cell(value: Any) -> Any:
    """A value as a file would hold it; None for a missing one."""
    value = plain(value)
    if is_missing(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _example(columns: ValuesByColumn, row: int, texts: Sequence[str], label: str | None) -> Example:
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
        f"The text in row {row} of the column {quoted(column)} is {what}; leave such rows out, or name another column "
        f"with text=."
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
