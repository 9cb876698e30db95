"""What a paper claims beside what was found: reproduced, not reproduced, or undecided."""

from dataclasses import dataclass

from pellucid.core.table import Interval


@dataclass(frozen=True)
class Claim:
    """A difference that a paper says is positive: its words, the paper's number and ours with its 95 % interval."""

    words: str
    paper: float | None
    found: Interval

    @property
    def verdict(self) -> str:
        """ "reproduced" when the interval lies above 0, "not reproduced" when it lies below, else "undecided"."""
        if not self.found.excludes_zero:
            return "undecided"
        return "reproduced" if self.found.mean > 0 else "not reproduced"


def claims_table(claims: list[Claim], unit: str) -> str:
    """The claims as a Markdown table."""
    rows = "\n".join(
        f"| {claim.words} | {'–' if claim.paper is None else f'{claim.paper:+.1f}'} | "
        f"{claim.found.mean:+.2f} [{claim.found.low:+.2f}, {claim.found.high:+.2f}] | **{claim.verdict}** |"
        for claim in claims
    )
    return f"| claim | paper, {unit} | here, {unit} [95 %] | |\n|---|---|---|---|\n{rows}\n"
