"""The table of docs/papers/s3.md about time steps: how often each claim of figure 2 holds, by layer."""

from pathlib import Path

from pellucid.results.table import Interval
from studies.quoted_blocks.study_results import result_of
from studies.s3_steps.page import CLAIMED, CLAIMS, ENOUGH, LAYERS, verdict
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers


def s3_steps_claims(root: Path) -> str:
    """The claims of figure 2, a column a layer; the claim that has to hold in most steps with its verdict."""
    numbers = result_of(root, "s3_steps")
    if numbers is None:
        return "Not run yet."
    names = [name for name in LAYERS if name in numbers["layers"]]
    rows = [[words, *(_share(numbers, name, claim) for name in names)] for claim, words in CLAIMS.items()]
    shares = [Interval(**numbers["layers"][name][CLAIMED]) for name in names]
    verdicts = [f"**{verdict(share, numbers['seeds'])}**" for share in shares]
    rows.append([f"{CLAIMS[CLAIMED]}, in {ENOUGH:.0%} of steps or more", *verdicts])
    table = markdown_table(["share of steps", *(LAYERS[name] for name in names)], rows)
    return f"[The study, with a picture](../../studies/s3_steps/README.md).\n\n{table}"


def _share(numbers: Numbers, layer: str, claim: str) -> str:
    return "{mean:z.3f} [{low:z.3f}, {high:z.3f}]".format(**numbers["layers"][layer][claim])
