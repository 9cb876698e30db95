"""Errors and notices: what a caller's mistake raises, and warnings that say what was decided for the caller."""

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class PellucidError(Exception):
    """Everything Pellucid raises on purpose; each kind of it is also the Python error that it is nearest to.

    >>> try:
    ...     pellucid.explain("my-classifier", "A good film.", "integrated_gradient")
    ... except pellucid.PellucidError as error:
    ...     print(type(error).__name__, isinstance(error, LookupError))
    UnknownName True
    """


class BadSetting(PellucidError, ValueError):
    """A setting is out of range or of the wrong kind."""


class UnknownName(PellucidError, LookupError):
    """No such method, metric, data set, class or unit."""


class BadInput(PellucidError, ValueError):
    """A text or example that cannot be explained as given."""


class BadFile(PellucidError, OSError):
    """A file or folder that is missing, unreadable or of another form."""


class ModelCannot(PellucidError, TypeError):
    """The model lacks a capability that is needed."""


class NotEnoughMemory(BadFile, MemoryError):
    """Memory ran out while a file or a model was read, or would have for so many texts at once."""


class ServiceAway(ModelCannot):
    """A service that computes a model's answers does not answer, whatever the text."""


class MissingPackage(PellucidError, ImportError):
    """An optional package is needed and is not installed."""


class ParityBroken(PellucidError, ArithmeticError):
    """The explained logit differs from the logit of the user's model."""


@dataclass(frozen=True)
class Failure:
    """A row without an explanation. row: its number. id: that of its example. reason: why, in one sentence."""

    row: int
    id: str
    reason: str


SHOWN = 5  # failures in a terminal or a notice


def failures_in_words(failures: Sequence[Failure]) -> str:
    """How many texts have no explanation, and why the first have none; empty for no failures."""
    if not failures:
        return ""
    firsts = "; ".join(f"row {failure.row:,}: {failure.reason.rstrip('.')}" for failure in failures[:SHOWN])
    more = f"; and {len(failures) - SHOWN:,} more" if len(failures) > SHOWN else ""
    return f"{len(failures):,} text{'' if len(failures) == 1 else 's'} could not be explained ({firsts}{more})."


# Notices: warnings that say, once a call, what was decided for the caller, at the line that called Pellucid.

PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"  # a script named pellucid_try.py beside the package is not ours


class Notice(UserWarning):
    """Pellucid completed an input in the obvious way, or an input looks like a mistake."""


class InputReading(Notice):
    """Data could be read in several ways; the notice says which one was taken, and where there are others, how to write
    one.
    """


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
