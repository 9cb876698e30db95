"""Options of the command line that several studies have, each declared once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Option:
    """One option. name: such as "--rows". arguments: what `argparse.ArgumentParser.add_argument` takes by name."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def destination(self) -> str:
        """The name of its value."""
        return self.name.lstrip("-").replace("-", "_")

    def changed(self, **arguments: object) -> "Option":
        """The same option with other arguments; None leaves one out."""
        merged = {**self.arguments, **arguments}
        return replace(self, arguments={name: one for name, one in merged.items() if one is not None})


SIZE = Option("--size", {"default": "small"})
OUT = Option("--out", {"type": Path, "required": True, "help": "folder for the numbers and the page"})
DATA = Option("--data", {"required": True, "help": "folder with train, dev and test as JSON lines; or pocket"})
WORK = Option("--work", {"type": Path, "required": True, "help": "folder for models and other large files"})
ENCODER = Option("--encoder", {"default": "minilm", "help": "minilm, a folder, or a hub name"})
DEVICE = Option("--device", {"default": "cpu", "help": "where models are trained and run"})
PROCESSES = Option("--processes", {"type": int, "default": 1, "help": "units at a time, a core each"})
FINISHED = Option("--finished", {"action": "store_true", "help": "do no work; report what is finished"})
