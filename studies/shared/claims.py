"""A paper's claims beside our numbers: reproduced, not reproduced, undecided, or no verdict from so few seeds."""

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.results.table import Interval
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

ENOUGH_SEEDS = 3  # over two runs a t-interval is 12.7 times as wide as their difference; over one there is none
SAME = 1.0  # points: "almost the same" means that the whole interval lies this close to 0


@dataclass(frozen=True)
class Claim:
    """A difference that a paper says is positive.

    words: the claim. paper: the paper's number, None where it has none. measured: ours, with its 95 % interval. seeds:
    trainings of each side that the interval covers. texts: that each of them was judged on; None where it is not over
    texts. beside: what the verdict must not be read without, such as that a model had collapsed. lacks: why there is no
    verdict, whatever the interval; "" where there is one.
    """

    words: str
    paper: float | None
    measured: Interval
    seeds: int
    texts: int | None = None
    beside: str = ""
    lacks: str = ""

    @property
    def verdict(self) -> str:
        """ "reproduced" when the interval lies above 0, "not reproduced" when it lies below, else "undecided"."""
        return no_verdict(self.seeds) or (f"no verdict: {self.lacks}" if self.lacks else self._judged())

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


def claim_of(record: Numbers, kind: type[Claim] = Claim) -> Claim:
    """The claim of a study's record, as `asdict` wrote it."""
    return kind(**record | {"measured": Interval(**record["measured"])})


def no_verdict(seeds: int) -> str:
    """What replaces a verdict when there are too few seeds; "" when there are enough."""
    if seeds >= ENOUGH_SEEDS:
        return ""
    return f"no verdict: {seeds} {'seed' if seeds == 1 else 'seeds'}"


def weighed(verdict: str, beside: str) -> str:
    """A verdict as tables show it, with what it must not be read without."""
    return f"**{verdict}**" + (f"; {beside}" if beside else "")


def claims_table(claims: Sequence[Claim], unit: str, digits: int = 2) -> str:
    """The claims as a Markdown table: each verdict beside its seeds, its texts and its caution."""
    rows = [
        [
            claim.words,
            "–" if claim.paper is None else signed(claim.paper, 1),
            claim.seeds,
            "–" if claim.texts is None else f"{claim.texts:,}",
            signed_interval(claim.measured, digits),
            weighed(claim.verdict, claim.beside),
        ]
        for claim in claims
    ]
    return markdown_table(["claim", f"paper, {unit}", "seeds", "texts", f"here, {unit} [95 %]", "verdict"], rows) + "\n"


def signed_interval(interval: Interval, digits: int) -> str:
    """A difference with its bounds."""
    mean, low, high = (signed(value, digits) for value in (interval.mean, interval.low, interval.high))
    return f"{mean} [{low}, {high}]"


def signed(value: float, digits: int) -> str:
    """A difference with its sign; no minus before zero."""
    return f"{value:+z.{digits}f}".replace("-", "−")
