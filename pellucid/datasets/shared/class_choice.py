"""The rows of some classes alone, of data that have more."""

from collections.abc import Iterable, Iterator

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.wording import listed, quoted
from pellucid.core.text.example import Example
from pellucid.datasets.shared.rows import ReadRow


def of_classes(rows: Iterable[ReadRow], classes: str | None) -> Iterator[ReadRow]:
    """The bad rows, and the examples of these classes: names with commas between them; None: all.

    Raises `BadSetting`, after the last row, for a class that no row has.
    """
    if classes is None:
        yield from rows
        return
    names = [name.strip() for name in classes.split(",")]
    seen = dict[str, None]()
    for row in rows:
        if isinstance(row, Example):
            seen.setdefault(str(row.label))
        if not isinstance(row, Example) or row.label in names:
            yield row
    missing = [name for name in names if name not in seen]
    if missing:
        raise BadSetting(
            f"classes={quoted(classes)} is not possible: no row has the label {quoted(missing[0])}; labels there: "
            f"{listed(sorted(seen)) or 'none'}."
        )
