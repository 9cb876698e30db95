"""Questions to a run in SQL, by DuckDB, which reads the shards of this run and nothing else.

Its own locks are not enough: a view over files is refused by them, and allowed folders let COPY, ATTACH and EXPORT
write. So the shards are registered as a data set of pyarrow, then access to files is switched off and the configuration
locked; and what is run is exactly one statement, of type SELECT.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from pellucid.base.checks import reason
from pellucid.base.errors import BadInput
from pellucid.base.packages import optional_package
from pellucid.corpus.folder import FIRST, Job, RunFolder
from pellucid.corpus.plan import NUMBERED
from pellucid.corpus.shard import SHARD_SCHEMA

LOCKED = (
    "set autoinstall_known_extensions=false",
    "set autoload_known_extensions=false",
    "set python_enable_replacements=false",
    "set temp_directory=''",
    "set enable_external_access=false",
    "set lock_configuration=true",
)
# A row of equal text has what the first such row has: `plan` leads to it. EACH: what tells an explanation from others;
# of one method its row alone, which is faster.
VIEWS = {
    "texts": """
        select r.row, r.id, array_to_string(r.segments, ' ⫽ ') as text, r.label, s.method, s.predicted,
            s.probabilities[list_position(s.classes, s.predicted)] as probability, s.target_label as target,
            s.target_value as value, len(s.caveats) as caveats
        from rows_data r join plan p on r.row = p.row left join shards_data s on s.row = p.first""",
    "words_once": """
        with units as (
            select EACH, unnest(word) as place, unnest(scores[1:len(word)]) as score, unnest(unit_segment) as segment,
                unnest(unit_start) as first_character, unnest(unit_end) as end_character
            from shards_data where word is not null),
        grouped as (
            select EACH, place, any_value(segment) as segment, sum(score) as score,
                min(first_character) as first_character, max(end_character) as end_character
            from units where segment >= 0 group by EACH, place)
        select s.row, s.method, place, segment, score, predicted, target_label as target,
            trim(substring(segments[segment + 1], first_character + 1, end_character - first_character)) as word
        from grouped join shards_data s using (EACH)""",
    "words": """
        select p.row, w.method, w.place, w.segment, w.word, w.score, w.predicted, w.target
        from plan p join words_once w on w.row = p.first""",
    "spans_once": """
        with units as (
            select EACH, unnest(range(len(span_first))) as place, unnest(span_first) as first,
                unnest(span_last) as last, unnest(scores[1:len(span_first)]) as score
            from shards_data where span_first is not null)
        select s.row, s.method, place, unit_segment[first + 1] as segment, last - first + 1 as parts, score, predicted,
            target_label as target, trim(substring(segments[unit_segment[first + 1] + 1], unit_start[first + 1] + 1,
                unit_end[last + 1] - unit_start[first + 1])) as span
        from units u join shards_data s using (EACH)""",
    "spans": """
        select p.row, s.method, s.place, s.segment, s.span, s.parts, s.score, s.predicted, s.target
        from plan p join spans_once s on s.row = p.first""",
    "diagnostics": """
        select p.row, d.method, d.each.name as name, d.each.value as value from plan p
        join (select row, method, unnest(diagnostics) as each from shards_data) d on d.row = p.first""",
    "failures": """
        select p.row, f.id as first_id, f.reason from plan p join failures_data f on f.row = p.first""",
}


def query_run(folder: RunFolder, job: Job, sql: str) -> pa.Table:
    """The rows that a SELECT gives; raises `BadInput` for any other statement and for one that fails, and
    `MissingPackage` without duckdb.
    """
    duckdb: Any = optional_package("duckdb")
    with duckdb.connect(":memory:") as connection:
        for name, data in _sources(folder, job).items():
            connection.register(name, data)
        each = "row" if len(job.methods) == 1 else "row, method"
        for name, text in VIEWS.items():
            connection.execute(f"create temp view {name} as {text.replace('EACH', each)}")
        for setting in LOCKED:
            connection.execute(setting)
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise BadInput(
                    "A query is exactly one SELECT of the views texts, words, spans, diagnostics, failures and runs; "
                    "write no other statement."
                )
            return connection.sql(statements[0].query).to_arrow_table()
        except (duckdb.Error, pa.ArrowException, OSError, RuntimeError) as error:
            raise BadInput(f"The query fails: {reason(error)}.") from None


def _sources(folder: RunFolder, job: Job) -> dict[str, Any]:
    """What the views are made of: the whole shards, the rows, the plan and the failures."""
    whole = sorted(shard for shard in folder.receipts() if folder.receipt(job, shard) is not None)
    folder.fetch_shards(job, whole)
    folder.fetch_rows(range(job.shards))
    first = np.array(folder.array(FIRST))
    failures = [asdict(failure) for failure in folder.failures(job)]
    schema = pa.schema({"row": pa.int64(), "id": pa.string(), "reason": pa.string()})
    return {
        "shards_data": _dataset([folder.shard_file(shard) for shard in whole], SHARD_SCHEMA),
        "rows_data": _dataset([folder.rows_file(shard) for shard in range(job.shards)], NUMBERED),
        "plan": pa.table({"row": np.arange(job.rows), "first": first}),
        "failures_data": pa.Table.from_pylist(failures, schema=schema),
        "runs": pa.Table.from_pylist([_facts(job, len(whole), len(failures))]),
    }


def _facts(job: Job, shards_whole: int, failed: int) -> dict[str, Any]:
    """What is asked, and how far it is answered: the only row of the view `runs`."""
    question = {name: job.question.get(name) for name in ("model", "weights", "target", "seed", "version")}
    return {
        **question,
        "method": ", ".join(job.methods),
        "settings": json.dumps(job.methods),
        "data": job.data,
        "rows": job.rows,
        "distinct_texts": job.distinct,
        "shards": job.shards,
        "shards_whole": shards_whole,
        "failed": failed,
    }


def _dataset(files: list[Path], schema: pa.Schema) -> ds.Dataset:
    """Files as one data set, whose pages are checked as they are read."""
    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    form = ds.ParquetFileFormat(default_fragment_scan_options=options)
    return ds.dataset([str(path) for path in files], schema=schema, format=form)
