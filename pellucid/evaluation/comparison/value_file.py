"""Every value of a comparison, exact, as rows of a Parquet file, for analyses of one's own.

text        the number of the text, from 0
example     its id
method      the method's title
metric      the metric's title
column      "value"; "precision" or "recall" where the metric is the F1 of their means
draw        of a random method, from 0
seed        the comparison's
value       in float64; null where the text was not judged
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.core.foundation.files import whole_file
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.judged_part import JudgedPart
from pellucid.evaluation.shared.metric_values import MetricValues

COLUMNS = {"mean": ("value",), "f1": ("precision", "recall")}
SCHEMA = pa.schema(
    {
        "text": pa.int32(),
        "example": pa.string(),
        "method": pa.string(),
        "metric": pa.string(),
        "column": pa.string(),
        "draw": pa.int32(),
        "seed": pa.int64(),
        "value": pa.float64(),
    }
)


def write_values(
    path: Path, comparison: Comparison, parts: Sequence[JudgedPart], about: Mapping[str, str]
) -> None:
    """Write the values of all parts, in order, whole or not at all. about: metadata of the file."""
    schema = SCHEMA.with_metadata(dict(about))
    with whole_file(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for number, part in enumerate(parts):
            rows = pa.concat_tables(_tables(comparison, comparison.part(number), part))
            writer.write_table(rows.replace_schema_metadata(schema.metadata))


def _tables(comparison: Comparison, texts: range, part: JudgedPart) -> Iterator[pa.Table]:
    for call in comparison.request.calls:
        for metric in comparison.metrics:
            values = part.values[call.title, metric.title]
            yield _table(comparison, texts, call.title, metric.title, values)


def _table(comparison: Comparison, texts: range, method: str, metric: str, values: MetricValues) -> pa.Table:
    """One method under one metric: a row for each draw, text and column, in this order."""
    names = COLUMNS[values.combine]
    draws, n_texts, n_columns = values.columns.shape
    size = values.columns.size
    draw, text, column = (index.ravel() for index in np.indices((draws, n_texts, n_columns)))
    ids = [comparison.examples[number].id for number in texts]
    return pa.table(
        {
            "text": pa.array(text + texts.start, pa.int32()),
            "example": pa.array([ids[number] for number in text], pa.string()),
            "method": pa.array([method] * size, pa.string()),
            "metric": pa.array([metric] * size, pa.string()),
            "column": pa.array([names[number] for number in column], pa.string()),
            "draw": pa.array(draw, pa.int32()),
            "seed": pa.array([comparison.request.seed] * size, pa.int64()),
            "value": pa.array(values.columns.ravel(), pa.float64(), from_pandas=True),  # nan becomes null
        },
        schema=SCHEMA,
    )
