"""The tables of docs/papers/s1.md: claims of the games and of shared words, for both tasks; what was not run is said."""

import json
from pathlib import Path

from pellucid.core.foundation.files import read_text
from pellucid.core.results.table import Interval
from pellucid.studies.s1_games.page import NAMES
from pellucid.studies.shared.claims import Claim
from pellucid.studies.shared.markdown import markdown_table
from pellucid.studies.shared.units import Numbers

HEAD = ["claim", "paper, points", "seeds", "here, points [95 %]", ""]


def s1_games_claims(root: Path) -> str:
    """The claims of tables 1 and 2."""
    return "\n\n".join(_of_task(root, "s1_games", task) for task in NAMES)


def s1_words_claims(root: Path) -> str:
    """The claim of figure 4."""
    return "\n\n".join(_of_task(root, "s1_words", task) for task in NAMES)


def _of_task(root: Path, study: str, task: str) -> str:
    numbers = _result(root, study, task)
    if numbers is None:
        return f"{NAMES[task]}: not run yet."
    missing = "".join(f" Not run: {name} ({why})." for name, why in numbers["missing"].items())
    rows = [_row(Claim(**one | {"measured": Interval(**one["measured"])})) for one in numbers["claims"]]
    heading = f"{NAMES[task]}, {numbers['about']['n_texts']:,} texts.{missing}"
    return f"{heading}\n\n{markdown_table(HEAD, rows)}" if rows else f"{heading} No claim could be tested."


def _row(claim: Claim) -> list[str]:
    over = claim.measured
    paper = "–" if claim.paper is None else _signed(claim.paper)
    interval = f"{_signed(over.mean)} [{_signed(over.low)}, {_signed(over.high)}]"
    return [claim.words, paper, str(claim.seeds), interval, claim.verdict]


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def _result(root: Path, study: str, task: str) -> Numbers | None:
    """The numbers of a task; None where it was not run."""
    path = root / "studies" / study / task / "result.json"
    if not path.exists():
        return None
    numbers: Numbers = json.loads(read_text(path))
    return numbers
