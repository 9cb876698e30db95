"""The tables of docs/papers/s3.md of what layers hold: claims on words and on concepts; what was not run is said."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from studies.quoted_blocks.study_results import result_of
from studies.shared.claims import claim_of, claims_table
from studies.shared.units import Numbers


def s3_layers_claims(root: Path) -> str:
    """Information by depth, function words, and how far used words stand together."""
    numbers = result_of(root, "s3_layers")
    if numbers is None:
        return "Not run yet."
    tables = _tables({"nats": numbers["falls"], "points": [*numbers["stop_words"], *numbers["segments"]]})
    return f"{numbers['about']['texts']} test sentences of SST-2.\n\n{tables}"


def s3_concepts_claims(root: Path) -> str:
    """r by depth, the concept that is used most, and how far r tells concepts apart."""
    numbers = result_of(root, "s3_concepts")
    if numbers is None:
        return "Not run yet."
    tables = _tables({"%": [*numbers["falls"], *numbers["used_most"]], "times": numbers["contrasts"]})
    return f"“{numbers['about']['word']}” in “{numbers['about']['text']}”.\n\n{tables}"


def _tables(by_unit: Mapping[str, Sequence[Numbers]]) -> str:
    """A table a unit."""
    tables = [claims_table(list(map(claim_of, claims)), unit) for unit, claims in by_unit.items() if claims]
    return "\n".join(tables).strip()
