"""What is said of classes to be trained that are probably a mistake of the data."""

from collections import defaultdict
from collections.abc import Iterable

from pellucid.core.foundation.notices import Notice, notify
from pellucid.core.foundation.wording import listed

MISSING = frozenset({"nan", "na", "n/a", "null", "none", "<na>", "-", "?"})  # what tables write for no value


class OddClasses(Notice):
    """Classes differ only in case or blanks, or are called as missing values are."""


def say_odd_classes(classes: Iterable[str]) -> None:
    """Warn of classes that are equal but for case and blanks, and of names that tables write where a value is missing."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in classes:
        alike[name.strip().casefold()].append(name)
    for names in alike.values():
        if len(names) > 1:
            notify(
                f"{listed(names)} are different classes; if they mean the same, write them alike, or join them by a label map.",
                OddClasses,
            )
    missing = MISSING - {"-"} if "+" in alike else MISSING  # then it means negative
    for name in (name for plain, names in alike.items() if plain in missing for name in names):
        notify(
            f"A class is called {name}; if that means that the label is missing, leave those labels empty.",
            OddClasses,
        )
