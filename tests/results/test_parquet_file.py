"""Parquet files that are far larger than their bytes: refused before their tables fill the memory."""

import tracemalloc
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pellucid
from pellucid.base.errors import BadFile
from pellucid.results.explanation_record import to_record
from pellucid.results.storage import FORM, SCHEMA, save
from tests.shared.explanations import explanation

MEGABYTE = 1 << 20


@contextmanager
def memory_below(most):
    """Python's and Arrow's memory stays below so many bytes."""
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - before < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("column", ("id", "other"))
def test_rows_without_content_are_refused_by_their_number(tmp_path, column):
    path = tmp_path / "results.parquet"
    table = pa.table({column: pa.nulls(3_000_000)})
    pq.write_table(table.replace_schema_metadata({"form": FORM}), path)
    assert path.stat().st_size < 10_000
    with memory_below(20 * MEGABYTE), pytest.raises(BadFile, match="3,000,000 values, which cannot be"):
        pellucid.read(path)


def test_a_value_that_is_repeated_without_end_is_refused(tmp_path):
    path = tmp_path / "results.parquet"
    record = {**to_record(explanation()), "meta": '{"a": "' + "x" * MEGABYTE + '"}'}
    pq.write_table(pa.Table.from_pylist([record] * 150, schema=SCHEMA), path, compression="zstd")
    assert path.stat().st_size < MEGABYTE / 20
    with memory_below(800 * MEGABYTE), pytest.raises(BadFile, match="unfolds to more than"):
        pellucid.read(path)


def test_data_of_others_are_bounded_too(tmp_path):
    pytest.importorskip("datasets")
    pq.write_table(pa.table({"text": pa.nulls(3_000_000, pa.string())}), tmp_path / "rows.parquet")
    with pytest.raises(BadFile, match="3,000,000 values, which cannot be"):
        pellucid.examples(tmp_path / "rows.parquet", format="hugging_face")


def test_honest_files_of_many_rows_are_read(tmp_path):
    every = [explanation()] * 500  # compress to nearly nothing
    save(every, tmp_path / "results.parquet")
    assert pellucid.read(tmp_path / "results.parquet") == every


def test_columns_that_are_missing_or_twice_are_refused(tmp_path):
    path = tmp_path / "results.parquet"
    table = pa.Table.from_pylist([to_record(explanation())], schema=SCHEMA)
    for spoilt in (table.drop_columns(["unit"]), table.append_column("unit", table.column("unit"))):
        pq.write_table(spoilt, path)
        with pytest.raises(BadFile, match=r"results.parquet"):
            pellucid.read(path)
