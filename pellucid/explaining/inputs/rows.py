"""Examples from rows and tables: which column holds the texts, which the labels, and each row as an example."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pellucid.base.checks import known, listed, quoted
from pellucid.base.errors import BadInput, PellucidError, notify
from pellucid.base.json_text import parsed
from pellucid.data.load import FIRST
from pellucid.data.shared.columns import SAMPLE, Columns, columns_of, say_how_read
from pellucid.data.shared.rows import MARKS, SkippedRows, plainly
from pellucid.explaining.inputs.readings import ReadingRequest, in_words, is_missing, label_text, notify_reading, plain
from pellucid.text.example import Example, Rationale, prompted
from pellucid.text.label_map import suggested_map

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
    others = [value for name, value in data.items() if not plainly(str(name)).startswith(MARKS)]
    if not any(map(_is_list, others or values)):  # one row, whose marks may be a list
        return _by_name(data, [[value] for value in values])
    if values and all(_is_list(value) for value in values):
        if any(hasattr(member, "example") for member in values[0]):  # methods side by side
            return _of_examples([member.example for member in values[0]])
        return _by_name(data, list(map(list, values)))
    raise BadInput("Some values of the dictionary are lists and some are not; give a list for every column.")


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
        "segments": [example.segments for example in examples],
        "label": [example.label for example in examples],
        "rationales": [example.rationales for example in examples],
        "id": [example.id for example in examples],
        "meta": [example.meta for example in examples],
    }


def _of_dataset(data: Any) -> ValuesByColumn:
    """Columns of texts, numbers and lists of a `datasets.Dataset`; class numbers become their names."""
    plain_kinds = ("Value", "ClassLabel", "List", "Sequence", "LargeList", "list")
    names = [
        name
        for name, kind in data.features.items()
        if type(kind).__name__ in plain_kinds or (isinstance(kind, dict) and plainly(name) in MARKS)
    ]
    columns = data.select_columns(names)[:] if names else {}
    return {name: _named(values, getattr(data.features[name], "names", None)) for name, values in columns.items()}


def _named(values: Sequence[Any], names: Sequence[str] | None) -> list[Any]:
    if not names:
        return list(values)
    return [None if value is None or value < 0 else names[value] for value in values]


def examples_from_columns(columns: ValuesByColumn, reading: ReadingRequest) -> tuple[Example, ...]:
    """The example of each row, by the columns that a file of the same content would be read by; a notice says which."""
    if set(columns) >= OURS and not reading.names_columns:
        return tuple(map(_own_example, *(columns[name] for name in ("segments", "label", "rationales", "id", "meta"))))
    if not columns:
        raise BadInput("The table has no columns; give one with a column of texts.")
    which = _columns_to_read(columns, reading)
    say_how_read("the table", "", which)
    rows = range(len(columns[which.texts[0]]))
    return good_rows(rows, lambda row, _: _example_of_row(columns, row, which), reading)


Row = TypeVar("Row")


def good_rows(rows: Sequence[Row], make: Callable[[Row, int], Example], reading: ReadingRequest) -> tuple[Example, ...]:
    """The example of each row and its number; where the request says so, without bad rows, which a notice counts.

    Raises `BadInput` as `make` does, with what leaves such rows out, and where all rows are bad.
    """
    examples, reasons = [], []
    for index, row in enumerate(rows):
        try:
            examples.append(make(row, index))
        except BadInput as error:
            if not reading.skip_bad_rows:
                raise
            reasons.append(str(error).partition(";")[0].rstrip("."))
    if reasons and not examples:
        raise BadInput(f"No row can be read; {len(reasons):,} are bad, the first: {reasons[0]}.")
    if reasons:
        first = "; ".join(reasons[:FIRST]) + ("; …" if len(reasons) > FIRST else "")
        notify(f"{len(reasons):,} bad rows of {len(rows):,} were left out: {first}", SkippedRows)
    return tuple(examples)


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
    value = value.tolist() if getattr(value, "ndim", 0) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _example_of_row(columns: ValuesByColumn, row: int, which: Columns) -> Example:
    texts, label = which.texts, which.label
    segments = tuple(_text(columns[name][row], name, row) for name in texts)
    used = {*texts, label, "id", *(column.name for column in which.marks)}
    meta = {name: _simple(values[row]) for name, values in columns.items() if name not in used}
    name = plain(columns["id"][row]) if "id" in columns and "id" not in texts else row
    gold = label_text(columns[label][row], row) if label else None
    try:
        marks = which.rationales({column.name: _cell(columns[column.name][row]) for column in which.marks}, segments)
    except ValueError as error:
        raise BadInput(f"Row {row}: {error}, or leave such rows out: skip_bad_rows=True.") from None
    return Example(segments, gold, marks, str(row if is_missing(name) else name), meta)


def _text(value: Any, column: str, row: int) -> str:
    if isinstance(value, str) and value.strip():
        return str(value)
    what = "empty" if isinstance(value, str) else in_words(value)
    raise BadInput(
        f"The text in row {row} of the column {quoted(column)} is {what}; leave such rows out: "
        f"skip_bad_rows=True, or name another column with text=."
    )


def _simple(value: Any) -> Any:
    """A value of another column as a file can hold it."""
    value = plain(value)
    if is_missing(value):
        return None
    return value if isinstance(value, str | int | float | bool) else str(value)


def _own_example(segments: Any, label: Any, rationales: Any, id: str, meta: Any) -> Example:
    """A row that `to_dataset` wrote."""
    marks = tuple(rationale if isinstance(rationale, Rationale) else Rationale(**rationale) for rationale in rationales)
    return Example(tuple(segments), label, marks, id, parsed(meta) if isinstance(meta, str) else meta)


# Examples from rows: strings, pairs, texts with their labels, dictionaries, examples, and results of other doors.


def examples_from_rows(data: Iterable[Any], reading: ReadingRequest) -> tuple[Example, ...]:
    """The example of each row, under its number where it has no id of its own."""
    if isinstance(data, Example):
        data = [data]
    if pair := _one_pair(data):
        return _one_row(pair, reading)
    rows = [_row(row) for row in _members(data)]
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        return examples_from_columns({name: [row.get(name) for row in rows] for name in names}, reading)
    reading.without_columns(data)
    labelled = _are_labelled(rows, reading.labels)
    if labelled:
        notify_reading(
            f"Read the last member of each row ({listed(sorted(_lasts(rows)))}) as its label; write "
            "pellucid.Example((first, second)) for pairs of texts."
        )
    return good_rows(rows, lambda row, index: _example(row, index, labelled), reading)


def _members(data: Iterable[Any]) -> Iterable[Any]:
    """The rows; raises `BadInput` where what came cannot be iterated over."""
    try:
        return list(data)
    except PellucidError:
        raise
    except Exception as error:
        raise BadInput(
            f"The texts came as {type(data).__name__}, whose members cannot be read ({type(error).__name__}); give a "
            f"list."
        ) from None


def _row(row: Any) -> Any:
    """A row as a string, tuple, mapping or example."""
    inside = getattr(row, "example", None)
    if isinstance(inside, Example):  # an explanation, an extraction, an analysis
        return inside
    if callable(fields := getattr(row, "_asdict", None)):  # a row of a data frame
        return fields()
    if getattr(row, "ndim", 0) == 1:
        return tuple(map(plain, row))
    return plain(row)


def _one_pair(data: Any) -> tuple[Any, ...] | None:
    """A tuple that is one row: two strings, or a string and a number."""
    if type(data) is tuple and len(data) == 2 and isinstance(data[0], str):
        second = plain(data[1])
        return data if isinstance(second, str | int | float) else None
    return None


def _one_row(pair: tuple[Any, ...], reading: ReadingRequest) -> tuple[Example, ...]:
    reading.without_columns(pair)
    labelled = _are_labelled([pair], reading.labels)
    what = f"one text with the label {quoted(pair[1])}" if labelled else "one pair of texts"
    notify_reading(f"Read the tuple as {what}; write a list for two texts: [first, second].")
    return (_example(pair, 0, labelled),)


def _are_labelled(rows: Sequence[Any], labels: Sequence[str]) -> bool:
    """Whether rows of two or three members end with a label; raises `BadInput` where some end with one and some with a
    text.
    """
    tuples = [row for row in rows if isinstance(row, tuple | list) and len(row) in (2, 3)]
    if not tuples or not all(isinstance(row[0], str) for row in tuples):
        return False
    if all(_is_number(row[-1]) for row in tuples):
        return True
    lasts = {row[-1] for row in tuples if isinstance(row[-1], str)}
    fits = lasts & set(labels)
    if fits and fits != lasts and len(tuples) > 1:
        raise BadInput(_mixture(next(iter(sorted(lasts - fits)))))
    return bool(fits) or (bool(labels) and lasts == suggested_map(lasts, labels).keys() and bool(lasts))


def _is_number(value: Any) -> bool:
    return not isinstance(value, str | bytes) and isinstance(plain(value), int | float) and not is_missing(value)


def _mixture(last: str) -> str:
    return (
        f"The last members are classes of the model in some rows and not in others (such as {quoted(last)}); write "
        "pellucid.Example((text,), label) for a text with its label, pellucid.Example((first, second)) for a pair."
    )


def _lasts(rows: Sequence[Any]) -> set[str]:
    return {str(plain(row[-1])) for row in rows if isinstance(row, tuple | list) and len(row) in (2, 3)}


def _example(row: Any, index: int, labelled: bool) -> Example:
    if isinstance(row, Example):
        return row
    if isinstance(row, str):
        return prompted((row,), id=str(index))
    if not isinstance(row, tuple | list):
        raise BadInput(
            f"Text {index} is {in_words(row)}; give a string, a pair of strings, or a pellucid.Example, and leave "
            f"missing ones out: skip_bad_rows=True."
        )
    texts = row[:-1] if labelled else row
    if len(texts) not in ((1, 2) if labelled else (2,)) or not all(isinstance(text, str) for text in texts):
        raise BadInput(_no_pair(row, index))
    if isinstance(row, list) and not labelled and not any(" " in text for text in row):
        raise BadInput(
            f"Text {index} is a list of two words; write ' '.join(words) for one text, or a tuple for a pair of texts."
        )
    return prompted(tuple(map(str, texts)), label_text(row[-1], index) if labelled else None, id=str(index))


def _no_pair(row: Sequence[Any], index: int) -> str:
    if row and all(isinstance(word, str) for word in row):
        kind = "list" if isinstance(row, list) else "tuple"
        count = "1 string" if len(row) == 1 else f"{len(row)} strings"
        return (
            f"Text {index} is a {kind} of {count}; for a text in words write ' '.join(words), for a pair give "
            "two strings."
        )
    odd = next((member for member in row if not isinstance(member, str)), None)
    inside = f", with a member that is {in_words(odd)}" if row else ""
    return f"Text {index} is {in_words(row)}{inside}; give a string, a pair of strings, or a pellucid.Example."
