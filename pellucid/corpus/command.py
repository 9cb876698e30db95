"""`pellucid jobs FOLDER`: how far a run over a corpus is; `pellucid query FOLDER SQL`: what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pellucid.base.checks import listed, readable_number, shortened
from pellucid.base.errors import BadFile
from pellucid.base.files import check_outputs, whole_file
from pellucid.corpus.folder import JOB, Job, RunFolder
from pellucid.corpus.stored_run import run_folder
from pellucid.drawing.terminal import duration
from pellucid.explaining.commands.safe_text import say

RECENT = 600.0  # seconds of work that say the pace
SHOWN_OF_LEASE = ("shard", "host", "process")
NAMED = 5  # failures that are printed


def jobs(
    folder: Annotated[
        str, typer.Argument(help="The folder or address of a run: what `pellucid explain --out` writes to.")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the state as JSON.")] = False,
) -> None:
    """Say how far a run over a corpus is: texts done, pace, time left, who computes, and what failed."""
    run = run_folder(folder)
    job = run.job()
    if job is None:
        raise BadFile(f"{run.title} holds no run; give a folder with {JOB}, which is in it once the rows are read.")
    state = state_of(run, job)
    if as_json:
        print(json.dumps(state))
        return
    for line in _lines(run.title, job, state):
        say(line)


def state_of(run: RunFolder, job: Job) -> dict[str, Any]:
    """The state of a run as plain values; seconds_left: None where it is not known."""
    whole = sorted(shard for shard in run.receipts() if shard < job.shards)
    done = sum(len(job.rows_of(shard)) for shard in whole)
    times = {shard: run.receipt_file(shard).stat().st_mtime for shard in whole}
    pace = _pace(job, times)
    failures = [vars(failure) for failure in run.failures(job)]
    working = [{name: each.get(name) for name in SHOWN_OF_LEASE} for each in run.living()]
    left = (job.rows - done) / pace if pace and working and done < job.rows else None
    return {
        "texts": job.rows,
        "done": done,
        "shards": job.shards,
        "shards_done": len(whole),
        "texts_a_second": pace,
        "seconds_left": left,
        "working": working,
        "failures": failures,
    }


def _pace(job: Job, times: dict[int, float]) -> float | None:
    """Texts a second over the last ten minutes of work; None for fewer than two shards."""
    if len(times) < 2:
        return None
    last = max(times.values())
    recent = {shard: moment for shard, moment in times.items() if moment > last - RECENT}
    earliest = min(recent.values())
    rows = sum(len(job.rows_of(shard)) for shard, moment in recent.items() if moment > earliest)
    return rows / (last - earliest) if last > earliest else None


def _lines(title: str, job: Job, state: dict[str, Any]) -> list[str]:
    question, done = job.question, state["done"]
    lines = [
        f"{title}: {', '.join(job.methods)} of {question['model']}, {job.rows:,} texts",
        f"done: {done:,} texts, {100 * done // max(1, job.rows)} %, {state['shards_done']:,} of {job.shards:,} shards",
    ]
    if state["texts_a_second"]:
        left = state["seconds_left"]
        rest = "" if left is None else f", about {duration(left)} left"
        lines.append(f"pace: {readable_number(state['texts_a_second'])} texts a second{rest}")
    if state["working"]:
        names = listed(f"shard {each['shard']} ({each['host']}, {each['process']})" for each in state["working"])
        lines.append(f"at work: {names}")
    elif done < job.rows:
        lines.append("at work: nobody; run the same command again, and it goes on")
    n_failed = len(state["failures"])
    lines.append(f"failed: {n_failed:,} text{'' if n_failed == 1 else 's'}")
    lines += [f"  row {each['row']:,}: {each['reason']}" for each in state["failures"][:NAMED]]
    return lines


# `pellucid query FOLDER "select …"`: questions to a run in SQL.

SHOWN = 100  # rows that are printed


def query(
    folder: Annotated[str, typer.Argument(help="The folder or address of a run.")],
    sql: Annotated[
        str,
        typer.Argument(help="One SELECT of the views texts, words, spans, diagnostics, failures and runs."),
    ],
    *,
    save: Annotated[Path | None, typer.Option(help="Write all rows to this file: .parquet or .csv.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a row.")] = False,
) -> None:
    """Ask a run in SQL: its texts, words, diagnostics and failures, and nothing else of this machine."""
    import pellucid

    if save is not None:
        if save.suffix not in (".parquet", ".csv"):
            raise BadFile(f"--save {save} ends in {save.suffix!r}; give a name that ends in .parquet or .csv.")
        check_outputs([save])
    table = pellucid.open_run(folder).query(sql)
    if save is not None:
        _write(table, save)
        say(f"Written: {save}", aside=True)
    elif as_json:
        for row in table.to_pylist():
            print(json.dumps(row, ensure_ascii=False, default=str))
    else:
        _print(table)


def _write(table: Any, path: Path) -> None:
    from pyarrow.csv import write_csv

    from pellucid.results.storage import write_checked

    with whole_file(path) as file:
        if path.suffix == ".csv":
            write_csv(table, file)
        else:
            write_checked([table], table.schema, file)


def _print(table: Any) -> None:
    """The first rows, with a blank between columns that are as wide as their widest value."""
    rows = [table.column_names, *([_cell(value) for value in row.values()] for row in table[:SHOWN].to_pylist())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if len(table) > SHOWN:
        say(f"{len(table) - SHOWN:,} more rows; --save FILE writes all.", aside=True)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shortened(str(value), 60)
