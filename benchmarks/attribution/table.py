"""The measured cases as tables in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.attribution.cases import BY_ROUTE
from benchmarks.attribution.results import PRODUCTS

Records = Mapping[str, Mapping[str, Any]]
HEAD = (
    "| method | by | seconds | sequences | tokens forward | backward | peak MB | ÷ floor | ours is faster by |",
    "|---|---|---|---|---|---|---|---|---|",
)
ROUTE_HEAD = (" by route, faster by |", "---|")  # where our cases were timed by a route of their own
OURS = ("pellucid", BY_ROUTE)
UNCOUNTED = "–"
OPERATIONS = "operations_per_token"
FLOOR_HEAD = (
    "texts",
    "model",
    "passes",
    "best batch",
    "tokens a second",
    "between the cases",
    "GFLOP/s",
    "share of the peak",
)
PEAK = (
    "The peak is the speed of one large product of matrices in float32, the best of several repetitions, and of the "
    "two products the faster one"
)
OF_A_TOKEN = (
    "Operations are those of the blocks' linear layers and of attention, at the texts' mean length; a backward pass to "
    "the words counts as many as a forward pass."
)


def places(records: Records) -> list[tuple[str, str]]:
    """The kinds of texts and places that were timed, in order: ("short", "minilm, 1 thread")."""
    kinds = [tuple(name.split(" / ")[2:]) for name in records if name.count(" / ") == 3]
    return list(dict.fromkeys(kinds))  # type: ignore[arg-type]


def timed(records: Records, texts: str, place: str) -> list[tuple[str, str, Mapping[str, Any]]]:
    """(method, by, record) of a place, in the order of the run."""
    rows = []
    for name, record in records.items():
        if name.count(" / ") == 3:
            method, by, kind, where = name.split(" / ")
            if (kind, where) == (texts, place):
                rows.append((method, by, record))
    return rows


def table(records: Records, texts: str, place: str) -> str:
    """One table; what was skipped stands below it."""
    rows = timed(records, texts, place)
    measured = [row for row in rows if "ratio" in row[2]]
    own = {(method, by): record["ratio"] for method, by, record in measured if by in OURS}
    libraries = [by for by in OURS if by == "pellucid" or any(ours == by for _, ours in own)]
    head = HEAD if len(libraries) == 1 else tuple(map("".join, zip(HEAD, ROUTE_HEAD, strict=True)))
    lines = [
        _row(method, by, record, [own.get((method, ours)) for ours in libraries]) for method, by, record in measured
    ]
    missing = [
        f"- {method} by {by}: {record.get('skipped', record.get('failed'))}"
        for method, by, record in rows
        if "ratio" not in record
    ]
    return "\n".join([*head, *lines, *([""] if missing else []), *missing])


def _row(method: str, by: str, record: Mapping[str, Any], own: Sequence[float | None]) -> str:
    """One line; own: the method's ratios by eager and, where there are any, by the best route."""
    sampled = record["sampled_texts"] < record["texts"]
    seconds = f"{'~' * sampled}{_short(record['seconds'])}"
    faster = ["" if ratio is None or by in OURS else f"{record['ratio'] / ratio:.2f} x" for ratio in own]
    name = f"**{by}**" if by in OURS else by
    cells = [method, name, seconds, *_counts(record), f"{record['megabytes']:.0f}"]
    return "| " + " | ".join([*cells, f"**{record['ratio']:.2f}**", *faster]) + " |"


def _counts(record: Mapping[str, Any]) -> list[str]:
    """Sequences and tokens, where they were counted."""
    if "sequences" not in record:
        return [UNCOUNTED] * 3
    thousands = [f"{record[kind] / 1000:,.0f} k" for kind in ("tokens_forward", "tokens_backward")]
    return [f"{record['sequences']:,}", *thousands]


def _short(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 1 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:,.0f}"


def floors(records: Records) -> str:
    """The floor of every place: best batches and tokens a second, how far it drifted between the cases, and its share
    of the processor's peak."""
    measured = {name: record for name, record in records.items() if name.startswith("floor / ") and "forward" in record}
    counted = any(OPERATIONS in record for record in measured.values())
    columns = len(FLOOR_HEAD) if counted else FLOOR_HEAD.index("GFLOP/s")
    rows = [_floor_row(records, name, passes) for name in measured for passes in ("forward", "both")]
    lines = ["| " + " | ".join(row[:columns]) + " |" for row in (FLOOR_HEAD, *rows)]
    return "\n".join([lines[0], "|" + "---|" * columns, *lines[1:]]) + (_peaks(records) if counted else "")


def _floor_row(records: Records, name: str, passes: str) -> tuple[str, ...]:
    _, texts, place = name.split(" / ")
    best = records[name][passes]
    way = best["way"]
    kind = "one text repeated" if way["repeated"] else "texts of like length"
    later = _floors_between(records, texts, place, passes == "both")
    drift = f"{min(later):,.0f} to {max(later):,.0f}" if later else "-"
    words = "forward" if passes == "forward" else "forward + backward"
    speed, batch = best["tokens_per_second"], f"{way['tokens']} tokens, {kind}"
    return texts, place, words, batch, f"{speed:,.0f}", drift, *_of_peak(records, name, passes)


def _floors_between(records: Records, texts: str, place: str, backward: bool) -> list[float]:
    """The floors beside the cases whose passes were counted, so that it is known which they are."""
    return [
        speed
        for _, _, record in timed(records, texts, place)
        if "tokens_backward" in record and (record["tokens_backward"] > 0) == backward
        for speed in record["floors"]
    ]


def _of_peak(records: Records, name: str, passes: str) -> list[str]:
    """Billions of operations a second, and their share of the peak of as many threads."""
    record = records[name]
    if OPERATIONS not in record:
        return [UNCOUNTED] * 2
    gflops = record[passes]["tokens_per_second"] * record[OPERATIONS][passes] / 1e9
    peaks = records.get(f"peak / {name.rsplit(', ', 1)[1]}", {}).get("gflops", {})
    return [f"{gflops:,.0f}", f"{gflops / max(peaks.values()):.0%}" if peaks else UNCOUNTED]


def _peaks(records: Records) -> str:
    """What the peak is, for every number of threads."""
    peaks = [
        f"{name.removeprefix('peak / ')}: "
        + ", ".join(f"{speed:,.0f} GFLOP/s by {PRODUCTS[by]}" for by, speed in record["gflops"].items())
        for name, record in records.items()
        if name.startswith("peak / ") and "gflops" in record
    ]
    return f"\n\n{PEAK} ({'; '.join(peaks)}). {OF_A_TOKEN}" if peaks else ""


def shares(records: Records) -> str:
    """Where our time goes: inside the network, and outside; and what it computes against the definition."""
    rows = []
    for texts, place in places(records):
        for method, by, record in timed(records, texts, place):
            if by == "pellucid" and "ratio" in record:
                forward, backward = record["forward_share"], record["backward_share"]
                share = record["tokens_forward"] / record["tokens_by_definition"]
                rest = 1 - forward - backward
                cells = (f"{forward:.0%}", f"{backward:.0%}", f"{rest:.0%}", f"{share:.2f}")
                rows.append((method, texts, place, *cells))
    head = ("method", "texts", "model", "forward", "backward", "all else", "tokens forward ÷ definition")
    return listed(rows, head)


def listed(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> str:
    """A plain Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))
