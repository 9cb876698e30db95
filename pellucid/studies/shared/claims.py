"""What a paper claims beside what was found: reproduced, not reproduced, undecided, or not to be said by so few seeds."""

from dataclasses import dataclass

from pellucid.core.results.table import Interval

ENOUGH_SEEDS = 3  # a t-interval over two runs is 12.7 times as wide as what lies between them; one run knows nothing of the next
SAME = 1.0  # points: "almost the same" is a whole interval within so much of 0


@dataclass(frozen=True)
class Claim:
    """A difference that a paper says is positive: its words, the paper's number and ours with its 95 % interval.

    seeds: trainings of each side that the interval is over.
    """

    words: str
    paper: float | None
    found: Interval
    seeds: int

    @property
    def verdict(self) -> str:
        """ "reproduced" when the interval lies above 0, "not reproduced" when it lies below, else "undecided"."""
        return no_verdict(self.seeds) or self._judged()

    def _judged(self) -> str:
        if not self.found.excludes_zero:
            return "undecided"
        return "reproduced" if self.found.mean > 0 else "not reproduced"


class SameClaim(Claim):
    """A difference that a paper says is almost none."""

    def _judged(self) -> str:
        """ "reproduced" when the interval lies within a point of 0, "not reproduced" when all of it is farther off."""
        if max(abs(self.found.low), abs(self.found.high)) <= SAME:
            return "reproduced"
        return "not reproduced" if self.found.low > SAME or self.found.high < -SAME else "undecided"


def no_verdict(seeds: int) -> str:
    """What stands in a verdict's place when there are too few seeds; "" when there are enough."""
    if seeds >= ENOUGH_SEEDS:
        return ""
    return f"no verdict: {seeds} {'seed' if seeds == 1 else 'seeds'}"


def claims_table(claims: list[Claim], unit: str) -> str:
    """The claims as a Markdown table."""
    rows = "\n".join(
        f"| {claim.words} | {'–' if claim.paper is None else f'{claim.paper:+.1f}'} | {claim.seeds} | "
        f"{claim.found.mean:+.2f} [{claim.found.low:+.2f}, {claim.found.high:+.2f}] | **{claim.verdict}** |"
        for claim in claims
    )
    return f"| claim | paper, {unit} | seeds | here, {unit} [95 %] | |\n|---|---|---|---|---|\n{rows}\n"
