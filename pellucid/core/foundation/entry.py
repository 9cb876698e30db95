"""One registration of a catalogue, and a call of it with settings."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from pellucid.core.foundation.checks import Choice as Choice
from pellucid.core.foundation.checks import known, of_kind

SOURCE = "Source:"  # begins the paragraph of a docstring that names the paper
Facts: TypeAlias = MappingProxyType[str, Any]  # what a registration declares, in the types of its kind


@dataclass(frozen=True)
class Entry:
    """What is registered under a name, and what its file says of it.

    module: the file's full name. facts: what the registration declares. summary: the first sentence of the docstring.
    paper: the reference, if there is one: the paragraph of the docstring that begins with "Source:", or the second paragraph of the file's. defaults: the settings with
    their default values: the keyword-only parameters. later: settings that came after results were saved. load: returns the function or class, and imports its file for that.
    """

    name: str
    module: str
    facts: Facts
    summary: str
    paper: str
    defaults: Mapping[str, object]
    load: Callable[[], Callable] = field(compare=False, repr=False)
    later: frozenset[str] = frozenset()

    @property
    def make(self) -> Callable:
        """The function or class that was registered; its file is imported at the first use."""
        return self.load()

    def settings(self, changes: dict[str, object]) -> dict[str, object]:
        """All settings of a call: the defaults with these changes; unknown names and wrong types raise.

        A later setting is left out at its default, so that records made before it came match.
        """
        for name in changes:
            known(f"setting of {self.name}", name, self.defaults)
        parameters = inspect.signature(self.make).parameters if changes else {}
        checked = {name: of_kind(name, value, parameters[name].annotation) for name, value in changes.items()}
        full, defaults = {**self.defaults, **checked}, self.defaults
        return {
            name: value for name, value in full.items() if name not in self.later or value != defaults[name]
        }


def imported_entry(
    name: str, make: Callable, facts: Mapping[str, object], later: Iterable[str] = ()
) -> Entry:
    """The entry of a function or class that is imported already."""
    parameters = inspect.signature(make).parameters.values()
    return Entry(
        name=name,
        module=make.__module__,
        facts=MappingProxyType(dict(facts)),
        summary=first_sentence(inspect.getdoc(make)),
        paper=paper_of(inspect.getdoc(make), getattr(sys.modules.get(make.__module__), "__doc__", None)),
        defaults={p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY},
        load=lambda: make,
        later=frozenset(later),
    )


def first_sentence(docstring: str | None) -> str:
    """The first line of a docstring."""
    return (docstring or "").split("\n", 1)[0]


def paper_of(docstring: str | None, file_docstring: str | None) -> str:
    """The source that a docstring names, else that of its file, as one line; "" where there is none."""
    for paragraph in _paragraphs(docstring):
        if paragraph.startswith(SOURCE):
            return paragraph.removeprefix(SOURCE).lstrip()
    of_file = _paragraphs(file_docstring)
    return of_file[1] if len(of_file) > 1 else ""


def _paragraphs(docstring: str | None) -> list[str]:
    """The paragraphs of a docstring, each as one line."""
    return [" ".join(paragraph.split()) for paragraph in (docstring or "").strip().split("\n\n")]


@dataclass(frozen=True)
class Call:
    """An entry with all its settings; title: its name, with the settings that were changed."""

    entry: Entry
    settings: Mapping[str, object]
    title: str

    def __call__(self, *inputs: object) -> Any:  # inputs and result are those of the entry's kind
        """Call the registered function on these inputs with these settings."""
        return self.entry.make(*inputs, **self.settings)
