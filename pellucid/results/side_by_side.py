"""The explanations of several methods for the same texts, and why other methods are missing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pellucid.base.kinds import renderers
from pellucid.base.wording import short_title
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Mapping[str, Results]):
    """A mapping: method's title -> the results of the texts, in order.

    by_method: that mapping itself. left_out: method that did not run -> why. seconds: how long all methods took together,
    since they share their passes; None where that is not known.
    """

    by_method: Mapping[str, Results]
    left_out: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None

    def __post_init__(self) -> None:
        alone = self.seconds if len(self.by_method) == 1 else None
        of_methods = {title: Results(tuple(of_method), alone) for title, of_method in self.by_method.items()}
        object.__setattr__(self, "by_method", of_methods)

    def __getitem__(self, title: str) -> Results:
        return self.by_method[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_method)

    def __len__(self) -> int:
        return len(self.by_method)

    def __repr__(self) -> str:
        texts = len(next(iter(self.by_method.values()), ()))
        return f"<SideBySide: {texts:,} text{'' if texts == 1 else 's'} by {', '.join(map(short_title, self.by_method))}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_side_by_side").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_side_by_side").make(self)

    @property
    def by_text(self) -> list[list[Explanation]]:
        """For each text the explanations of all methods."""
        return [list(of_text) for of_text in zip(*self.by_method.values(), strict=True)]

    @property
    def explanations(self) -> Results:
        """All of them in one sequence, method after method."""
        return Results(
            tuple(explanation for of_method in self.by_method.values() for explanation in of_method),
            self.seconds,
        )
