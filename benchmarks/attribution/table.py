"""The measured cases as tables in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

Records = Mapping[str, Mapping[str, Any]]
HEAD = (
    "| method | by | seconds | sequences | tokens forward | backward | peak MB | ÷ floor | ours is faster by |\n"
    "|---|---|---|---|---|---|---|---|---|"
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
    own = {method: record for method, by, record in measured if by == "pellucid"}
    lines = [_row(method, by, record, own.get(method)) for method, by, record in measured]
    missing = [
        f"- {method} by {by}: {record.get('skipped', record.get('failed'))}"
        for method, by, record in rows
        if "ratio" not in record
    ]
    return "\n".join([HEAD, *lines, *([""] if missing else []), *missing])


def _row(method: str, by: str, record: Mapping[str, Any], own: Mapping[str, Any] | None) -> str:
    sampled = record["sampled_texts"] < record["texts"]
    seconds = f"{'~' * sampled}{_short(record['seconds'])}"
    faster = "" if own is None or by == "pellucid" else f"{record['ratio'] / own['ratio']:.2f} x"
    name = f"**{by}**" if by == "pellucid" else by
    thousands = [f"{record[kind] / 1000:,.0f} k" for kind in ("tokens_forward", "tokens_backward")]
    cells = [method, name, seconds, f"{record['sequences']:,}", *thousands, f"{record['megabytes']:.0f}"]
    return "| " + " | ".join([*cells, f"**{record['ratio']:.2f}**", faster]) + " |"


def _short(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 1 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:,.0f}"


def floors(records: Records) -> str:
    """The floor of every place: best batches and tokens a second, and how far it drifted between the cases."""
    lines = [
        "| texts | model | passes | best batch | tokens a second | between the cases |",
        "|---|---|---|---|---|---|",
    ]
    for name, record in records.items():
        if not name.startswith("floor / ") or "forward" not in record:
            continue
        _, texts, place = name.split(" / ")
        for passes in ("forward", "both"):
            lines.append(_floor_row(records, texts, place, passes, record[passes]))
    return "\n".join(lines)


def _floor_row(records: Records, texts: str, place: str, passes: str, best: Mapping[str, Any]) -> str:
    way = best["way"]
    kind = "one text repeated" if way["repeated"] else "texts of like length"
    backward = {"forward": False, "both": True}[passes]
    later = [
        speed
        for _, _, record in timed(records, texts, place)
        if "floors" in record and (record["tokens_backward"] > 0) == backward
        for speed in record["floors"]
    ]
    drift = f"{min(later):,.0f} to {max(later):,.0f}" if later else "-"
    words = "forward" if passes == "forward" else "forward + backward"
    return f"| {texts} | {place} | {words} | {way['tokens']} tokens, {kind} | {best['tokens_per_second']:,.0f} | {drift} |"


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
