"""The values that the metrics gave for one part of a comparison. They are written as JSON and read back bit for bit."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import read_text, whole_file, write_text
from pellucid.base.json_text import parsed, read_sealed, sealed
from pellucid.comparison.case import Judged
from pellucid.comparison.comparison import Comparison
from pellucid.results.bootstrap import BOUNDS, Combine, MetricValues, judged_rows, resampled_means
from pellucid.results.heaviest_spans import NOT_COUNTED, HeaviestSpans

FORM = "pellucid-judged-1"
Numbers = float | None | list["Numbers"]


class ValuesRecord(TypedDict):
    """One metric's values for one method, as a file keeps them; None stands for nan."""

    method: str
    metric: str
    columns: Numbers
    combine: Combine
    curve: Numbers
    grid: Numbers


@dataclass(frozen=True)
class JudgedPart:
    """values: (method, metric) -> values of the part's examples. rows, tokens: how many the model read to judge them.

    heaviest: counts of the heaviest spans, where one of the methods gives span weights.
    """

    values: Mapping[tuple[str, str], MetricValues]
    rows: int
    tokens: int
    heaviest: HeaviestSpans = NOT_COUNTED

    def save(self, path: Path, owner: Mapping[str, object] = MappingProxyType({})) -> None:
        """Write the part as JSON, whole or not at all. owner: what it is part of, which `read` compares."""
        entries: list[ValuesRecord] = [
            {
                "method": method,
                "metric": metric,
                "columns": _as_lists(values.columns),
                "combine": values.combine,
                "curve": _as_lists(values.curve),
                "grid": _as_lists(values.grid),
            }
            for (method, metric), values in self.values.items()
        ]
        content = {
            "form": FORM,
            "rows": self.rows,
            "tokens": self.tokens,
            "heaviest": asdict(self.heaviest),
            "answers": entries,
        }
        write_text(path, json.dumps(sealed(content, owner), ensure_ascii=False))

    @staticmethod
    def read(path: Path, owner: Mapping[str, object] | None = None) -> "JudgedPart":
        """Read what `save` wrote; raises `BadFile` for anything else.

        owner: what it must be sealed as a part of; None: anything.
        """
        try:
            content = parsed(read_text(path)) if owner is None else read_sealed(path, owner)
            if content["form"] != FORM:
                raise KeyError("form")
            values = {(entry["method"], entry["metric"]): _metric_values(entry) for entry in content["answers"]}
            heaviest = _heaviest(content.get("heaviest", {}))
            return JudgedPart(values, index(content["rows"]), index(content["tokens"]), heaviest)
        except (ValueError, LookupError, TypeError, OverflowError):
            raise not_a_part(path) from None

    def and_also(self, others: "JudgedPart", order: Sequence[tuple[str, str]]) -> "JudgedPart":
        """The part with the values of further metrics, in this order of (method, metric) pairs."""
        values = {**self.values, **others.values}
        return JudgedPart(
            {pair: values[pair] for pair in order},
            self.rows + others.rows,
            self.tokens + others.tokens,
            self.heaviest,
        )

    def fits(self, pairs: Collection[tuple[str, str]], examples: int) -> bool:
        """Whether there are values for all these (method, metric) pairs, for this number of examples."""
        of_pairs = (self.values.get(pair) for pair in pairs)
        return all(values is not None and values.columns.shape[1] == examples for values in of_pairs)


def not_a_part(path: Path) -> BadFile:
    """The error for a file that does not hold values of this comparison."""
    return BadFile(f"{path} is no part of a comparison; remove it to have it made again.")


def joined(parts: Sequence[JudgedPart]) -> JudgedPart:
    """Several parts as one; the examples follow in the order of the parts."""
    values = {
        pair: MetricValues(
            np.concatenate([part.values[pair].columns for part in parts], axis=1),
            first.combine,
            None if first.curve is None else np.concatenate([part.values[pair].curve for part in parts]),  # type: ignore[misc]
            first.grid,
        )
        for pair, first in parts[0].values.items()
    }
    heaviest = sum((part.heaviest for part in parts), NOT_COUNTED)
    return JudgedPart(values, sum(part.rows for part in parts), sum(part.tokens for part in parts), heaviest)


def _as_lists(array: np.ndarray | None) -> Numbers:
    """Nested lists for JSON, which writes floats so that they are read back exactly; None where a number is nan."""
    return None if array is None else np.where(np.isnan(array), np.array(None), array).tolist()


def _array(numbers: Numbers) -> np.ndarray | None:
    return None if numbers is None else np.array(numbers, dtype=float)  # None becomes nan


def _heaviest(counts: dict[str, int]) -> HeaviestSpans:
    """counts: as in the file; empty in files of earlier versions, which have no counts."""
    if not all(isinstance(count, int | float) for count in counts.values()):
        raise TypeError("counts are numbers")
    return HeaviestSpans(**counts)


def _metric_values(entry: ValuesRecord) -> MetricValues:
    columns, curve, grid = map(_array, (entry["columns"], entry["curve"], entry["grid"]))
    if columns is None or columns.ndim != 3 or entry["combine"] not in get_args(Combine):
        raise ValueError("there are no values")
    if (curve is None) != (grid is None):
        raise ValueError("a curve needs a grid")
    if curve is not None and grid is not None and curve.shape != (columns.shape[1], *grid.shape):
        raise ValueError("a curve does not fit its examples and its grid")
    return MetricValues(columns, entry["combine"], curve, grid)


# Every value of a comparison, exact, as rows of a Parquet file, for analyses of one's own.
#
# text the number of the text, from 0 example its id method the method's title metric the metric's title column
# "value"; "precision" or "recall" where the metric is the F1 of their means draw of a random method, from 0 seed the
# comparison's value in float64; null where the text was not judged

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


def write_values(path: Path, comparison: Comparison, parts: Sequence[JudgedPart], about: Mapping[str, str]) -> None:
    """Write the values of all parts, in order, whole or not at all. about: metadata of the file."""
    schema = SCHEMA.with_metadata(dict(about))
    with (
        whole_file(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for part_index, part in enumerate(parts):
            rows = pa.concat_tables(_tables(comparison, comparison.part(part_index), part))
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
    ids = [comparison.examples[example_index].id for example_index in texts]
    return pa.table(
        {
            "text": pa.array(text + texts.start, pa.int32()),
            "example": pa.array([ids[text_index] for text_index in text], pa.string()),
            "method": pa.array([method] * size, pa.string()),
            "metric": pa.array([metric] * size, pa.string()),
            "column": pa.array([names[column_index] for column_index in column], pa.string()),
            "draw": pa.array(draw, pa.int32()),
            "seed": pa.array([comparison.request.seed] * size, pa.int64()),
            "value": pa.array(values.columns.ravel(), pa.float64(), from_pandas=True),  # nan becomes null
        },
        schema=SCHEMA,
    )


def curve_intervals(
    judged: Judged, *, resamples: int = 2000, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean, low, high), each [point]: the curve's mean over examples with 95 % intervals point by point."""
    if judged.curve is None:
        raise BadInput("This metric has no curve.")
    rows = judged_rows(judged.curve)
    if len(rows) < 2:
        unknown = np.full(judged.curve.shape[1], np.nan)
        return (rows[0] if len(rows) else unknown), unknown, unknown
    low, high = np.quantile(resampled_means(rows, resamples, seed), BOUNDS, axis=0)
    return rows.mean(0), low, high
