"""The tables of docs/papers/s3.md of what layers hold: claims on words and on concepts; what was not run is said."""

from pathlib import Path

from studies.quoted_blocks.study_results import result_of
from studies.shared.claims import claim_of
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers


def s3_layers_claims(root: Path) -> str:
    """Information by depth, and function words."""
    numbers = result_of(root, "s3_layers")
    if numbers is None:
        return "Not run yet."
    rows = [_row(one, "nats") for one in numbers["falls"]] + [_row(one, "points") for one in numbers["stop_words"]]
    return f"{numbers['about']['texts']} test sentences of SST-2.\n\n{_table(rows)}"


def s3_concepts_claims(root: Path) -> str:
    """r by depth, and how far it tells concepts apart."""
    numbers = result_of(root, "s3_concepts")
    if numbers is None:
        return "Not run yet."
    rows = [_row(one, "%") for one in numbers["falls"]] + [_row(one, "times") for one in numbers["contrasts"]]
    return f"“{numbers['about']['word']}” in “{numbers['about']['text']}”.\n\n{_table(rows)}"


def _table(rows: list[list[str]]) -> str:
    return markdown_table(["claim", "seeds", "here [95 %]", ""], rows)


def _row(record: Numbers, unit: str) -> list[str]:
    claim = claim_of(record)
    mean, low, high = (_signed(value) for value in (claim.measured.mean, claim.measured.low, claim.measured.high))
    return [claim.words, str(claim.seeds), f"{mean} [{low}, {high}] {unit}", claim.verdict]


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
