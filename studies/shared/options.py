"""Options of the command line that several studies have, each declared once."""

from collections.abc import Mapping, Sequence
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


def command_words(options: Sequence[Option], values: Mapping[str, Any]) -> list[str]:
    """The words of a command line that give these values, such as ["--data", "pocket"]; what an option gives by itself
    is left out.

    options: in the order of the words. values: by `destination`. An absolute path is named by its last part: where it
    lies on one machine says nothing on another.
    """
    words: list[str] = []
    for option in options:
        value = values[option.destination]
        is_set = value is not None and value is not False and value not in ("", option.arguments.get("default"))
        if is_set:  # 0 is a value
            listed = value if isinstance(value, list | tuple) else [] if value is True else [value]
            words += [option.name, *map(_named, listed)]
    return words


def _named(value: object) -> str:
    path = Path(str(value))
    return path.name if path.is_absolute() else str(value)
