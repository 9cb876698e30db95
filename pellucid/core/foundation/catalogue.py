"""Where methods, metrics, data sets and penalties register, and are found by name.

A room's files are imported at the first look-up, so a file that exists is a file that is offered and
tested. Packages outside register through an entry point of the room's name.
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

_SEARCH = RLock()  # one for all rooms, since one room's files may look into another


@dataclass(frozen=True)
class Entry:
    """One registered thing: its name, what it is, and the facts it declared about itself."""

    name: str
    make: Callable
    facts: MappingProxyType[str, Any]

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        return (inspect.getdoc(self.make) or "").split("\n", 1)[0]

    @property
    def paper(self) -> str:
        """The reference, if its file names one: the docstring's paragraph after the first."""
        paragraphs = (inspect.getmodule(self.make).__doc__ or "").strip().split("\n\n")  # type: ignore[union-attr]
        return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""

    @property
    def defaults(self) -> dict[str, Any]:
        """Its settings with their default values: the keyword-only parameters."""
        parameters = inspect.signature(self.make).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def settings(self, given: dict[str, Any]) -> dict[str, Any]:
        """The full settings of a call: defaults with the given ones on top; unknown names and wrong kinds raise."""
        parameters = inspect.signature(self.make).parameters
        for name in given:
            known(f"setting of {self.name}", name, self.defaults)
        checked = {name: of_kind(name, value, parameters[name].annotation) for name, value in given.items()}
        return {**self.defaults, **checked}


Choice = str | tuple[str, Mapping[str, Any]]  # a name, or a name with some of its settings


@dataclass(frozen=True)
class Call:
    """A registered thing with all its settings; title tells it from itself with other settings."""

    entry: Entry
    settings: Mapping[str, Any]
    title: str

    def __call__(self, *inputs: Any) -> Any:
        """What it gives for these inputs under these settings."""
        return self.entry.make(*inputs, **self.settings)


@dataclass
class Catalogue:
    """All things of one kind, by name, each registered with one decorator in its own file."""

    kind: str
    room: str
    requires: tuple[str, ...] = ()
    optional: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))
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
            held = self._entries.get(own)
            if held is not None and held.make.__module__ != make.__module__:
                raise BadSetting(
                    f"A {self.kind} called {own!r} is already registered by {held.make.__module__}."
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
        """What a user named, with all settings; raises `UnknownName`, or `BadSetting` for the same thing twice."""
        calls = [self._call(choice) for choice in choices]
        titles = [call.title for call in calls]
        if len(set(titles)) < len(titles):
            raise BadSetting(
                f"The same {self.kind} is named twice with the same settings: {', '.join(titles)}."
            )
        return calls

    def _call(self, choice: Choice) -> Call:
        name, given = (choice, {}) if isinstance(choice, str) else choice
        entry = self.get(name)
        words = ", ".join(f"{key}={value}" for key, value in given.items())
        return Call(entry, entry.settings(dict(given)), f"{name}({words})" if words else name)

    def _search(self) -> None:
        if self._searched:
            return
        with _SEARCH:  # other threads wait for the whole room
            if self._searched or self._searching:  # a file may look something up while it is imported
                return
            self._searching = True
            try:
                self._import_all()
                self._searched = True  # a failed search must not pass for a finished one
            finally:
                self._searching = False

    def _import_all(self) -> None:
        package = importlib.import_module(self.room)
        for module in pkgutil.walk_packages(package.__path__, f"{self.room}."):
            importlib.import_module(module.name)
        for point in entry_points(group=self.room):
            point.load()
