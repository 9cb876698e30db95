"""The catalogue: methods, metrics, data sets and other kinds of things register here, and are looked up by name.

All files of a room are imported at the first look-up, so a file that exists is offered and tested. Other packages register
through an entry point of the catalogue's group, which is a public name and no folder.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from threading import RLock
from types import MappingProxyType
from typing import Any

from pellucid.core.foundation.checks import known, of_kind
from pellucid.core.foundation.errors import BadSetting

_SEARCH = RLock()  # one for all rooms, because the files of one room may look entries of another up


@dataclass(frozen=True)
class Entry:
    """One registration: a name, the function or class that was registered, and the facts declared with it."""

    name: str
    make: Callable
    facts: MappingProxyType[str, Any]

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        return (inspect.getdoc(self.make) or "").split("\n", 1)[0]

    @property
    def paper(self) -> str:
        """The reference, if its file names one: the second paragraph of the file's docstring."""
        paragraphs = (inspect.getmodule(self.make).__doc__ or "").strip().split("\n\n")  # type: ignore[union-attr]
        return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""

    @property
    def defaults(self) -> dict[str, Any]:
        """Its settings with their default values: the keyword-only parameters."""
        parameters = inspect.signature(self.make).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def settings(self, changes: dict[str, Any]) -> dict[str, Any]:
        """All settings of a call: the defaults with these changes; unknown names and wrong types raise.

        A setting that the entry declares as `later` is left out at its default, so that records made before it came match.
        """
        parameters = inspect.signature(self.make).parameters
        for name in changes:
            known(f"setting of {self.name}", name, self.defaults)
        checked = {name: of_kind(name, value, parameters[name].annotation) for name, value in changes.items()}
        full, later = {**self.defaults, **checked}, self.facts.get("later", ())
        return {
            name: value for name, value in full.items() if name not in later or value != self.defaults[name]
        }


Choice = str | tuple[str, Mapping[str, Any]]  # a name, or a name with some of its settings


@dataclass(frozen=True)
class Call:
    """An entry with all its settings; title: its name, with the settings that were changed."""

    entry: Entry
    settings: Mapping[str, Any]
    title: str

    def __call__(self, *inputs: Any) -> Any:
        """Call the registered function on these inputs with these settings."""
        return self.entry.make(*inputs, **self.settings)


@dataclass
class Catalogue:
    """All entries of one kind, by name; each is registered with a decorator in its own file.

    kind: its name in messages. room: the package whose files are imported. requires: facts that each entry must declare.
    optional: facts that it may declare, with their defaults.
    """

    kind: str
    room: str  # the package whose files are ours
    requires: tuple[str, ...] = ()
    optional: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    group: str = ""  # of the entry points by which other packages register
    _entries: dict[str, Entry] = field(default_factory=dict)
    _searched: bool = False
    _searching: bool = False

    def add(self, name: str | None = None, **facts: Any) -> Callable[[Callable], Callable]:
        """Register a function or class under a name (None: its own), with the facts this kind declares."""
        missing = [fact for fact in self.requires if fact not in facts]
        strange = [fact for fact in facts if fact not in self.requires and fact not in self.optional]
        if missing or strange:
            raise BadSetting(
                f"To register a {self.kind}, give {self.requires}, optionally {tuple(self.optional)}."
            )

        def register(make: Callable) -> Callable:
            own = make.__name__ if name is None else name
            earlier = self._entries.get(own)
            if earlier is not None and earlier.make.__module__ != make.__module__:
                raise BadSetting(
                    f"A {self.kind} called {own!r} is already registered by {earlier.make.__module__}."
                )
            self._entries[own] = Entry(own, make, MappingProxyType({**self.optional, **facts}))
            return make

        return register

    def names(self) -> list[str]:
        """Every registered name, sorted."""
        self._search()
        return sorted(self._entries)

    def get(self, name: str) -> Entry:
        """The entry of that name; an unknown name raises `UnknownName` with the nearest one."""
        self._search()
        known(self.kind, name, self._entries)
        return self._entries[name]

    def calls(self, choices: Iterable[Choice]) -> list[Call]:
        """The calls that a user named, with all settings; raises `UnknownName`, or `BadSetting` where two are equal."""
        calls = [self._call(choice) for choice in choices]
        titles = [call.title for call in calls]
        if len(set(titles)) < len(titles):
            raise BadSetting(
                f"The same {self.kind} is named twice with the same settings: {', '.join(titles)}."
            )
        return calls

    def _call(self, choice: Choice) -> Call:
        name, changes = (choice, {}) if isinstance(choice, str) else choice
        entry = self.get(name)
        settings = entry.settings(dict(changes))
        words = ", ".join(f"{key}={value}" for key, value in changes.items())
        return Call(entry, settings, f"{name}({words})" if words else name)

    def _search(self) -> None:
        if self._searched:
            return
        with _SEARCH:  # other threads wait until all files are imported
            if self._searched or self._searching:  # a file may look something up while it is imported
                return
            self._searching = True
            try:
                self._import_all()
                self._searched = True  # only after success: a failed search is repeated
            finally:
                self._searching = False

    def _import_all(self) -> None:
        package = importlib.import_module(self.room)
        for module in pkgutil.walk_packages(package.__path__, f"{self.room}."):
            importlib.import_module(module.name)
        for point in entry_points(group=self.group):
            point.load()
