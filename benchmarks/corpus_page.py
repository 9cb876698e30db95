"""The page on the costs of a run over a corpus, from what was measured."""

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.attribution.results import machine_words
from benchmarks.attribution.table import listed

UNITS = {"second": 1.0, "minute": 60.0, "hour": 3600.0}
SCORED_WORDS = 20  # of each generated text


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    records = results["records"]
    machine = results["made_on"]
    rows = [
        (
            name,
            f"{record['seconds']:.0f}",
            f"{record['pace']:,.0f}",
            f"{record['processor']:.0f}",
            f"{record['megabytes']:.0f}",
            f"{record['bytes'] / 1e6:.0f}" if "bytes" in record else "",
        )
        for name, record in records.items()
    ]
    heads = ("run", "seconds", "texts a second", "processor seconds", "MB of memory", "MB on disk")
    return (
        "# What a run over a corpus costs\n\nMade by `python -m benchmarks.corpus_jobs`; not written by hand. "
        f"On {machine_words(machine)}, {machine['cores']} cores, one thread a process. The generated texts have "
        f"{SCORED_WORDS} words and are read by a bag of words, so nearly all of the time is the run's own; the reviews "
        "are cut to 100 words and read by all-MiniLM-L6-v2. Seconds are of the whole command with its start; texts a "
        "second are between the first shard and the last. Memory is that of the run's largest process; of "
        "Ray, processor seconds are without those of the actors.\n\n"
        + listed(rows, heads)
        + "\n\n"
        + listed(ratios(records), ("what", "measured", "wanted"))
        + "\n"
    )


def ratios(records: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What was measured beside what was wanted, for the runs that are there."""
    single, million = records["100,000 texts, 1 worker"], records["1,000,000 texts, 2 workers"]
    two, slices = records["100,000 texts, 2 workers"], records["100,000 texts, 4 slices"]
    reviews = records["20,000 reviews, 2 workers"]
    memory = records["100,000 texts, in memory"]
    ray, copied = records["100,000 texts, Ray, 2 workers"], records["100,000 texts, a twentieth new"]
    few = records["10,000 texts, 1 worker"]
    return [
        ("texts a second, two workers over one", f"{two['pace'] / single['pace']:.2f}", "1.8"),
        ("one worker over texts in memory, time a text", f"{memory['pace'] / single['pace']:.2f}", "1.1"),
        ("time a text of one worker", f"{1000 / single['pace']:.2f} ms", "0.7 ms"),
        ("memory, a million texts over 10,000", f"{million['megabytes'] / few['megabytes']:.2f}", "1.15"),
        ("Ray over processes of this machine, time a text", f"{two['pace'] / ray['pace']:.2f}", "1.1"),
        ("four slices over one worker, processor time", f"{slices['processor'] / single['processor']:.2f}", "1.1"),
        ("a twentieth new over all new, seconds", f"{copied['seconds'] / single['seconds']:.2f}", "0.15"),
        ("bytes a scored word on disk", f"{million['bytes'] / million['texts'] / SCORED_WORDS:.1f}", "20"),
        ("words by class over the million, seconds", f"{million['query']:.1f}", "12"),
        ("estimate over truth, the million", f"{estimated(million):.2f}", "0.7 to 1.3"),
        ("estimate over truth, the reviews", f"{estimated(reviews):.2f}", "0.7 to 1.3"),
    ]


def estimated(record: Mapping[str, Any]) -> float:
    """The estimated seconds over those that the run took."""
    match = re.search(r"about ([\d.]+) (second|minute|hour)s?", record["estimate"])
    if match is None:
        raise ValueError(f"no estimate in {record['estimate']!r}")
    return float(match[1]) * UNITS[match[2]] / float(record["seconds"])
