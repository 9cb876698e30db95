"""A paper's claims beside our numbers: reproduced, not reproduced, undecided, or no verdict from so few seeds."""

from dataclasses import dataclass

from pellucid.results.table import Interval
from studies.shared.units import Numbers

ENOUGH_SEEDS = 3  # over two runs a t-interval is 12.7 times as wide as their difference; over one there is none
SAME = 1.0  # points: "almost the same" means that the whole interval lies this close to 0


@dataclass(frozen=True)
class Claim:
    """A difference that a paper says is positive.

    words: the claim. paper: the paper's number, None where it has none. measured: ours, with its 95 % interval. seeds:
    trainings of each side that the interval covers.
    """

    words: str
    paper: float | None
    measured: Interval
    seeds: int

    @property
    def verdict(self) -> str:
        """ "reproduced" when the interval lies above 0, "not reproduced" when it lies below, else "undecided"."""
        return no_verdict(self.seeds) or self._judged()

    def _judged(self) -> str:
        if not self.measured.excludes_zero:
            return "undecided"
        return "reproduced" if self.measured.mean > 0 else "not reproduced"


class SameClaim(Claim):
    """A difference that a paper says is almost none."""

    def _judged(self) -> str:
        """ "reproduced" when the interval lies within a point of 0, "not reproduced" when all of it lies outside."""
        if max(abs(self.measured.low), abs(self.measured.high)) <= SAME:
            return "reproduced"
        return "not reproduced" if self.measured.low > SAME or self.measured.high < -SAME else "undecided"


def claim_of(record: Numbers) -> Claim:
    """The claim of a study's record, as `asdict` wrote it."""
    return Claim(**record | {"measured": Interval(**record["measured"])})


def no_verdict(seeds: int) -> str:
    """What replaces a verdict when there are too few seeds; "" when there are enough."""
    if seeds >= ENOUGH_SEEDS:
        return ""
    return f"no verdict: {seeds} {'seed' if seeds == 1 else 'seeds'}"


def claims_table(claims: list[Claim], unit: str) -> str:
    """The claims as a Markdown table."""
    rows = "\n".join(
        f"| {claim.words} | {'–' if claim.paper is None else f'{claim.paper:+.1f}'} | {claim.seeds} | "
        f"{claim.measured.mean:+.2f} [{claim.measured.low:+.2f}, {claim.measured.high:+.2f}] | **{claim.verdict}** |"
        for claim in claims
    )
    return f"| claim | paper, {unit} | seeds | here, {unit} [95 %] | |\n|---|---|---|---|---|\n{rows}\n"
