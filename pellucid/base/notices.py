"""Notices: warnings that say, once a call, what was decided for the caller, at the line that called Pellucid."""

import os
import sys
import warnings
from pathlib import Path

PACKAGE = (
    f"{Path(__file__).parents[1]}{os.sep}"  # a script named pellucid_try.py beside the package is not ours
)


class Notice(UserWarning):
    """Pellucid completed an input in the obvious way, or an input looks like a mistake."""


class InputReading(Notice):
    """Data could be read in several ways; the notice says which one was taken, and where there are others, how to write one."""


class OtherSegments(InputReading):
    """Single texts came where the model was trained on pairs, or pairs where it was trained on single texts."""


class UnmatchedLabels(Notice):
    """Labels of the data are no classes of the model: how many, which, and the map that would join them."""


class AliasUsed(Notice):
    """A name stands for a longer one, which results carry."""


class FolderMended(Notice):
    """A finished folder was damaged and is whole again, or has files that its command did not make."""


class RouteNotUsed(Notice):
    """A route of passes that was named cannot compute here, or gives other answers; PyTorch's own operators compute."""


def notify(sentence: str, category: type[Notice] = Notice) -> None:
    """Warn with a sentence, at the first line outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(category(sentence), stacklevel=level)
