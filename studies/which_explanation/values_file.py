"""Every value of every method under every metric as a Parquet file, a row a value."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.base.files import whole_file
from studies.shared.units import Numbers

NAME = "values.parquet"
COLUMNS = pa.schema(
    [
        ("setting", pa.dictionary(pa.int32(), pa.string())),
        ("seed", pa.int32()),
        ("text", pa.dictionary(pa.int32(), pa.string())),
        ("metric", pa.dictionary(pa.int32(), pa.string())),
        ("method", pa.dictionary(pa.int32(), pa.string())),
        ("value", pa.float64()),
    ]
)
Row = tuple[str, int, str, str, str, float | None]


def write_values(units: Sequence[Numbers], folder: Path) -> Path:
    """Write the values of all comparisons; null where a text was not judged. Raises `BadFile` where it cannot be
    written.
    """
    path = folder / NAME
    columns = list(zip(*_rows(units), strict=True)) or [()] * len(COLUMNS)
    arrays = [_array(column, field.type) for column, field in zip(columns, COLUMNS, strict=True)]
    with whole_file(path) as temporary:
        pq.write_table(pa.Table.from_arrays(arrays, schema=COLUMNS), temporary, compression="zstd")
    return path


def _array(column: Sequence[object], kind: pa.DataType) -> pa.Array:
    """A column; names, which repeat, as numbers of a dictionary."""
    if pa.types.is_dictionary(kind):
        return pa.array(column, pa.string()).dictionary_encode()
    return pa.array(column, kind)


def _rows(units: Sequence[Numbers]) -> Iterator[Row]:
    for unit in units:
        for metric, of_methods in unit["values"].items():
            for method, values in of_methods.items():
                for text, value in zip(unit["texts"], values, strict=True):
                    yield unit["setting"], unit["seed"], text, metric, method, value
