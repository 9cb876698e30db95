"""The numbers and the page: in how many models the planted word was named, and what else was."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from pellucid.results.bootstrap import exact_share
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

TEXT = """# Planted shortcuts: is a word that decides named, and nothing else?

The word “{word}” stands at the end of a share of one class's texts, in train and test, and in no others. “Named”:
models of which `pellucid.shortcuts` says that this word, or a pair with it, decides that class. “Something else named”:
models of which it says that of other words. Exact 95 % intervals over models. “Turn”: of the class's answers, the mean
share that turn without the word, where it was tested.

{table}

In all, without a planted word and without TREC, something was named of {alarms} of {honest} models ({low} to {high}).
TREC stands apart: its questions begin with the words that decide them, and models that go by “where” or “what is” are
named for it. That is what was measured, and no error of the test; whether a word should decide is not measured.

What else was named: {others}.
"""
COLUMNS = ["model", "texts", "share planted", "models", "right", "named", "turn", "something else named", "passes"]
NAMES = {"minilm": "MiniLM"}
APART = "trec"  # questions begin with the words that decide them


def summarise(records: Sequence[Numbers], word: str) -> Numbers:
    """For each row its counts, with exact intervals; then all false alarms together."""
    keys = list(dict.fromkeys((one["model"], one["task"], one["share"]) for one in records))
    rows = [_row([one for one in records if (one["model"], one["task"], one["share"]) == key], word) for key in keys]
    honest = [one for one in records if one["share"] == 0 and one["task"] != APART]
    alarms = sum(bool(_others(one, word)) for one in honest)
    return {
        "word": word,
        "rows": rows,
        "honest": len(honest),
        "alarms": alarms,
        "alarm_share": asdict(exact_share(alarms, len(honest))),
    }


def _row(records: Sequence[Numbers], word: str) -> Numbers:
    named = sum(any(word in one["words"] and one["label"] == unit["label"] for one in _named(unit)) for unit in records)
    turned = [one["turned"] / one["n"] for unit in records for one in unit["tested"] if one["words"] == [word]]
    others = [other for unit in records for other in _others(unit, word)]
    return {
        **{name: records[0][name] for name in ("model", "task", "share")},
        "models": len(records),
        "accuracy": sum(one["accuracy"] for one in records) / len(records),
        "named": asdict(exact_share(named, len(records))) | {"count": named},
        "turn": sum(turned) / len(turned) if turned else None,
        "with_others": sum(bool(_others(unit, word)) for unit in records),
        "others": dict(Counter(others).most_common(6)),
        "passes": sum(one["passes"] for one in records) / len(records),
    }


def _named(unit: Numbers) -> list[Numbers]:
    return [one for one in unit["tested"] if one["decides"]]


def _others(unit: Numbers, word: str) -> list[str]:
    """What is named of a model besides the planted word."""
    return [f"{' '.join(one['words'])} ({one['label']})" for one in _named(unit) if word not in one["words"]]


def as_page(numbers: Numbers) -> str:
    """The table, the false alarms, and how to repeat it."""
    named = Counter[str]()
    for row in numbers["rows"]:
        named.update({f"{row['task']}: {other}": count for other, count in row["others"].items()})
    others = "; ".join(f"{other}, {count} ×" for other, count in named.most_common()) or "nothing"
    share = numbers["alarm_share"]
    return TEXT.format(
        word=numbers["word"],
        table=markdown_table(COLUMNS, [_cells(row) for row in numbers["rows"]]),
        alarms=numbers["alarms"],
        honest=numbers["honest"],
        low=f"{share['low']:.0%}",
        high=f"{share['high']:.0%}",
        others=others,
    )


def _cells(row: Numbers) -> list[str]:
    named = row["named"]
    is_planted = row["share"] > 0
    interval = f"{named['count']} [{named['low']:.0%}, {named['high']:.0%}]"
    return [
        NAMES.get(row["model"], row["model"]),
        row["task"],
        f"{row['share']:.0%}" if is_planted else "none",
        str(row["models"]),
        f"{row['accuracy']:.0%}",
        interval if is_planted else "–",
        f"{row['turn']:.0%}" if row["turn"] is not None else "–",
        str(row["with_others"]),
        f"{row['passes']:.0f}",
    ]
