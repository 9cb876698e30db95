"""Pellucid: why a text classifier decided as it did, and whether that explanation can be believed."""

from pellucid.api import accuracy, compare, examples, explain, explain_all, load, methods, report, train
from pellucid.core.errors import PellucidError
from pellucid.core.example import Example
from pellucid.core.explanation import Explanation
from pellucid.core.storage import read, save
from pellucid.core.table import Table

__all__ = [
    "Example",
    "Explanation",
    "PellucidError",
    "Table",
    "accuracy",
    "compare",
    "examples",
    "explain",
    "explain_all",
    "load",
    "methods",
    "read",
    "report",
    "save",
    "train",
]
