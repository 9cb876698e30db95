"""What the page says of translators that reverse strings: for each method the share of steps with the mirrored letter
on top.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.base.checks import percent
from pellucid.results.bootstrap import SHARE
from pellucid.results.interval import Interval
from studies.s3_steps.writers import SHOWN
from studies.shared.markdown import markdown_table
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.units import Numbers

STEPS, MIRRORED, BY_CHANCE = 0, 1, 4  # columns of `link_counts`
CHANCE = "chance"


def writer_numbers(runs: Sequence[Numbers]) -> Numbers:
    """network -> right, carried, for each method the share of steps in which the mirrored letter has most, and one
    string's map.
    """
    networks: dict[str, list[Numbers]] = {}
    for run in runs:
        networks.setdefault(run["network"], []).append(run)
    return {name: _network(of) for name, of in networks.items()}


def _network(runs: Sequence[Numbers]) -> Numbers:
    shares = {title: _share(runs, title, MIRRORED) for title in runs[0]["methods"]}
    return {
        "right": [run["right"] for run in runs],
        "carried": [run["carried"] for run in runs],
        "shares": {title: asdict(share) for title, share in shares.items()}
        | {CHANCE: asdict(_share(runs, SHOWN, BY_CHANCE))},
        "string": runs[0]["string"],
        "map": runs[0]["map"],
        "left_out": runs[0]["left_out"],
    }


def _share(runs: Sequence[Numbers], title: str, column: int) -> Interval:
    counts = np.array([run["methods"][title] for run in runs])[..., [STEPS, column]]
    return interval_over_seeds(counts, lambda means: means[..., 1] / means[..., 0], SHARE)


def writers_section(networks: Mapping[str, Numbers]) -> str:
    """The section; "" where no writer has been trained yet."""
    if not networks:
        return ""
    titles = {title: None for of in networks.values() for title in of["shares"]}
    rows = [[title, *(_cell(of["shares"].get(title)) for of in networks.values())] for title in titles]
    right = "; ".join(f"{name}: {', '.join(map(percent, of['right']))}" for name, of in networks.items())
    maps = "\n".join(_map(name, of) for name, of in networks.items())
    first = next(iter(networks.values()))
    left_out = "".join(f"Left out: {title}: {why}\n" for title, why in first["left_out"].items())
    return (
        "## Models that write\n\nTranslators with spans of their source, whose words are letters, learn the same. "
        f"Strings reversed by the trainings: {right}.\nIn what share of steps does the source letter that is written "
        f"have the highest score? Of translations between languages\nthe study `translation_links` asks the same.\n\n"
        f"{markdown_table(['share of steps', *networks], rows)}\n\n{left_out}{maps}\n"
    )


def _cell(share: Numbers | None) -> str:
    return "–" if share is None else str(Interval(**share))


def _map(name: str, of: Numbers) -> str:
    """One string's map: a row a step, a column a source letter, in hundredths of the step's weight."""
    letters = of["string"].split()
    rows = [
        [letter, *(f"{100 * score:.0f}" for score in scores)]
        for letter, scores in zip(reversed(letters), of["map"], strict=True)
    ]
    return f"\n`{SHOWN}` of the {name}, % of a step's weight:\n\n{markdown_table(['writes', *letters], rows)}\n"
