"""The types of what doors accept, for signatures: data of any kind, and what stands for a model."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example

# A string, a pair, examples, rows, columns, a table or data set of another library, or where one is read from.
Data = str | Path | Example | Iterable[Any] | Mapping[str, Any] | Any
# A model of ours, a folder or hub name, or a fitted pipeline.
ModelSource = Model | str | Path | Any
