"""The explanations of several methods for the same texts, and why other methods are missing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation


@dataclass(frozen=True, eq=False)
class SideBySide(Mapping[str, list[Explanation]]):
    """A mapping: method's title -> one explanation a text, in order.

    by_method: that mapping itself. left_out: method that did not run -> why.
    """

    by_method: Mapping[str, list[Explanation]]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, title: str) -> list[Explanation]:
        return self.by_method[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_method)

    def __len__(self) -> int:
        return len(self.by_method)

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
    def explanations(self) -> list[Explanation]:
        """All of them in one list, method after method."""
        return [explanation for of_method in self.by_method.values() for explanation in of_method]
