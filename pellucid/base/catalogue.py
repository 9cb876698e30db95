"""The catalogue: methods, metrics, data sets and other kinds of things register here, and are looked up by name.

All files of a room are read at the first look-up, so a file that exists is offered and tested; it is imported when what
it registers is used. Other packages register through an entry point of the catalogue's group, which is a public name
and no folder; they are imported at the first look-up.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from threading import RLock
from types import MappingProxyType
from typing import Any

from pellucid.base.checks import known
from pellucid.base.entry import (
    Call,
    Choice,
    Entry,
    Facts,
    NotLiteral,
    imported_entry,
    sources,
    written_entries,
)
from pellucid.base.errors import AliasUsed, BadSetting, notify

__all__ = ["ALL", "Call", "Catalogue", "Choice", "Entry", "imported_entry"]

ALL = "all"  # in a list of names, of methods or checks: every usual one
_SEARCH = RLock()  # one for all rooms, because the files of one room may look entries of another up


@dataclass
class Catalogue:
    """All entries of one kind, by name; each is registered with a decorator in its own file.

    kind: its name in messages. room: the package whose files are read, or the one file, or several of them. requires:
        facts that each entry must declare.
    optional: facts that it may declare, with their defaults. command: what lists all entries, such as "methods"; "" for
    nothing.
    """

    kind: str
    room: str | tuple[str, ...]
    requires: tuple[str, ...] = ()
    optional: Facts = field(default_factory=lambda: MappingProxyType({}))
    group: str = ""  # of the entry points by which other packages register
    command: str = ""
    _entries: dict[str, Entry] = field(default_factory=dict)
    _searched: bool = False
    _searching: bool = False

    def add(
        self, name: str | None = None, *, later: Iterable[str] = (), **facts: object
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function or class under a name (None: its own), with the facts this kind declares.

        later: settings that came after results were saved; they stand in a record only where they differ from the
        default.
        """
        self._check(facts)

        def register(make: Callable[..., Any]) -> Callable[..., Any]:
            registered_name = make.__name__ if name is None else name
            self._put(imported_entry(registered_name, make, {**self.optional, **facts}, later))
            return make

        return register

    def _check(self, facts: Iterable[str]) -> None:
        missing = [fact for fact in self.requires if fact not in facts]
        strange = [fact for fact in facts if fact not in self.requires and fact not in self.optional]
        if missing or strange:
            raise BadSetting(f"To register a {self.kind}, give {self.requires}, optionally {tuple(self.optional)}.")

    def _put(self, entry: Entry) -> None:
        earlier = self._entries.get(entry.name)
        if earlier is not None and earlier.module != entry.module:
            raise BadSetting(f"A {self.kind} called {entry.name!r} is already registered by {earlier.module}.")
        self._entries[entry.name] = entry

    def names(self) -> list[str]:
        """Every registered name, sorted."""
        self._search()
        return sorted(self._entries)

    def __contains__(self, name: str) -> bool:
        """Whether there is an entry of that name; aliases do not count."""
        self._search()
        return name in self._entries

    def get(self, name: str) -> Entry:
        """The entry of that name or alias; an unknown name raises `UnknownName` with the nearest one."""
        self._search()
        name = self.full_name(name)
        known(self.kind, name, self._entries, self.command)
        return self._entries[name]

    def full_name(self, name: str) -> str:
        """The registered name that an alias stands for; any other name as it is."""
        if "aliases" not in self.optional or name in self._entries:
            return name
        self._search()
        of_alias = (
            registered_name
            for registered_name, entry in self._entries.items()
            if name in entry.facts.get("aliases", ())
        )
        return next(of_alias, name)

    def of_class(self, fact: str, value: object) -> list[Entry]:
        """The entries one of whose facts names the value's class, or one that it is derived from, by its full name."""
        classes = {f"{each.__module__}.{each.__qualname__}" for each in type(value).__mro__}
        entries = (self.get(name) for name in self.names())
        return [entry for entry in entries if not classes.isdisjoint(entry.facts[fact])]

    def calls(self, choices: Iterable[Choice]) -> list[Call]:
        """The calls that a user named, with all settings; raises `UnknownName`, or `BadSetting` where two are equal."""
        calls = [self._call(choice) for choice in choices]
        titles = [call.title for call in calls]
        if len(set(titles)) < len(titles):
            raise BadSetting(f"The same {self.kind} is named twice with the same settings: {', '.join(titles)}.")
        return calls

    def _call(self, choice: Choice) -> Call:
        name, changes = (choice, {}) if isinstance(choice, str) else choice
        entry = self.get(name)
        if entry.name != name:
            notify(f"{name} is short for {entry.name}.", AliasUsed)
            name = entry.name
        settings = entry.settings(dict(changes))
        words = ", ".join(f"{key}={value}" for key, value in changes.items())
        return Call(entry, settings, f"{name}({words})" if words else name)

    def _search(self) -> None:
        if self._searched:
            return
        with _SEARCH:  # other threads wait until all files are read
            if self._searched or self._searching:  # a file may look something up while it is imported
                return
            self._searching = True
            try:
                self._search_all()
                self._searched = True  # only after success: a failed search is repeated
            finally:
                self._searching = False

    def _search_all(self) -> None:
        for module, text in self.sources():
            self._search_file(module, text)
        for point in entry_points(group=self.group):
            point.load()

    def sources(self) -> Iterator[tuple[str, str | None]]:
        """Every file of the room or rooms: (full name, text); None where only its compiled form is there."""
        for room in (self.room,) if isinstance(self.room, str) else self.room:
            yield from sources(room)

    def _search_file(self, module: str, text: str | None) -> None:
        """Read a file's registrations; import it where they cannot be read or are wrong, so that the import says so."""
        try:
            entries = written_entries(text, module, self, self.optional)
            for entry in entries:
                self._check(entry.facts)
        except (NotLiteral, BadSetting, SyntaxError):
            importlib.import_module(module)
        else:
            for entry in entries:
                if getattr(self._entries.get(entry.name), "module", None) != module:  # else imported already
                    self._put(entry)
