"""Parquet files of unknown origin, read within limits: a few compressed bytes can unfold to gigabytes.

Before the table is read, the number of values that the file claims is compared with its size. While the table is read,
the unfolded bytes are. The bounds are far above what texts and scores compress to.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.base.errors import BadFile

# The most values of a file: VALUES, and VALUES_A_BYTE more for each of its bytes. The most unfolded bytes, likewise.
VALUES, VALUES_A_BYTE = 1_000_000, 100
BYTES, BYTES_A_BYTE = 64 << 20, 1000
ROWS_AT_ONCE = 64


def bounded_batches(path: Path, form: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a file of this form, some at a time, with only these columns; raises `BadFile` beyond the bounds."""
    with pq.ParquetFile(path) as file:
        if (file.schema_arrow.metadata or {}).get(b"form") != form.encode():
            raise BadFile(f"{path} is Parquet, but not explanations saved by Pellucid.")
        check_values(path, file.metadata)
        most, size = BYTES + BYTES_A_BYTE * path.stat().st_size, 0
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(columns), use_threads=False):
            size += batch.nbytes
            if size > most:
                raise BadFile(f"{path} unfolds to more than {most:,} bytes, which cannot be meant; it is not read.")
            yield batch


def check_values(path: Path, metadata: pq.FileMetaData) -> None:
    """Raise `BadFile` where a file claims more values than its bytes can contain."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    values = sum(group.column(number).num_values for group in groups for number in range(group.num_columns))
    values, size = max(values, rows * metadata.num_columns), path.stat().st_size
    if values > VALUES + VALUES_A_BYTE * size:
        raise BadFile(f"{path} says that its {size:,} bytes hold {values:,} values, which cannot be; it is not read.")
