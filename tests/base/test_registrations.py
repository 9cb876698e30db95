"""What is read in a file without importing it is what importing it registers; a file that says more is imported."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from pellucid.base import entry as registrations
from pellucid.base import kinds
from pellucid.base.catalogue import Catalogue
from pellucid.base.entry import NotLiteral, imported_entry, written_entries
from pellucid.base.errors import BadSetting

CATALOGUES = {name: value for name, value in vars(kinds).items() if isinstance(value, Catalogue)}


def read_and_imported(catalogue):
    """(entries read in the texts of its files, entries of the imported files) of a catalogue; only files of its
    room.
    """
    read, files = [], set()
    for module, text in catalogue.sources():
        try:
            read += written_entries(text, module, catalogue, catalogue.optional)
            files.add(module)
        except NotLiteral:
            pass
        importlib.import_module(module)
    catalogue.names()
    live = [entry for entry in catalogue._entries.values() if entry.module in files]
    return read, [imported_entry(entry.name, entry.make, entry.facts, entry.later) for entry in live]


@pytest.mark.parametrize("kind", CATALOGUES)
def test_what_is_read_is_what_an_import_registers(kind):
    read, live = read_and_imported(CATALOGUES[kind])
    by_name = {entry.name: entry for entry in read}
    assert len(by_name) == len(read)
    assert by_name == {entry.name: entry for entry in live}
    for entry in live:
        written = by_name[entry.name]
        assert written.make is entry.make
        assert dict(written.facts) == dict(entry.facts)
        assert list(written.defaults.items()) == list(entry.defaults.items())


@pytest.mark.parametrize("kind", ("attributions", "formats", "renderers", "policies", "reasons"))
def test_these_rooms_are_listed_without_importing_a_file(kind):
    catalogue = CATALOGUES[kind]
    for module, text in catalogue.sources():
        assert written_entries(text, module, catalogue, catalogue.optional) is not None


HEAD = '"""A thing.\n\nDoe (2030), "On\nThings".\n"""\n\nfrom owner_of_things import things as t\n\nCOST = "much"\n\n\n'


@pytest.fixture
def room(tmp_path, monkeypatch):
    """Make a room of one file with this text; returns its catalogue and the names of the file's module."""
    things = Catalogue("thing", "room_of_one", ("cost",), optional={"size": 1})
    monkeypatch.setitem(sys.modules, "owner_of_things", SimpleNamespace(things=things))
    monkeypatch.syspath_prepend(tmp_path)

    def written(body):
        folder = tmp_path / "room_of_one"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "one.py").write_text(HEAD + body)
        for name in ("room_of_one", "room_of_one.one"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return things

    return written


def is_imported():
    return "room_of_one.one" in sys.modules


LITERAL = '''@t.add("ant", cost={"much"}, size=frozenset({2}))
def other(run, *, legs: int = 6, colour: str | None = None):
    """An ant.

    legs: how many.
    """
'''


def test_a_file_is_imported_when_its_function_is_used(room):
    things = room(LITERAL)
    assert things.names() == ["ant"]
    entry = things.get("ant")
    assert dict(entry.facts) == {"cost": {"much"}, "size": frozenset({2})}
    assert (entry.summary, entry.paper) == ("An ant.", 'Doe (2030), "On Things".')
    assert entry.defaults == {"legs": 6, "colour": None}
    assert not is_imported()
    assert entry.settings({"legs": 8}) == {"legs": 8, "colour": None}
    assert entry.make.__name__ == "other"
    assert is_imported()
    assert things.get("ant") == entry


@pytest.mark.parametrize(
    "body",
    (
        '@t.add(cost=COST)\ndef ant():\n    """An ant."""\n',
        '@t.add(cost="much")\n@staticmethod\ndef ant():\n    """An ant."""\n',
        'def ant():\n    """An ant."""\n\n\nt.add(cost="much")(ant)\n',
        'if COST:\n\n    @t.add(cost="much")\n    def ant():\n        """An ant."""\n',
        '@t.add(cost="much")\nclass ant:\n    """An ant."""\n',
        'import owner_of_things\n\n\n@owner_of_things.things.add(cost=COST)\ndef ant():\n    """An ant."""\n',
    ),
)
def test_what_is_not_written_literally_is_imported(room, body):
    things = room(body)
    assert things.names() == ["ant"]
    assert is_imported()
    assert things.get("ant").facts["cost"] == "much"


def test_other_calls_of_add_are_no_registrations(room):
    things = room('seen = set()\nseen.add("bee")\n\n\n@t.add(cost="much")\ndef ant():\n    """An ant."""\n')
    assert things.names() == ["ant"]
    assert not is_imported()


@pytest.mark.parametrize("facts", ('price="much"', 'cost="much", price="much"', ""))
def test_wrong_facts_are_refused_as_the_file_is_searched(room, facts):
    things = room(f'@t.add({facts})\ndef ant():\n    """An ant."""\n')
    with pytest.raises(BadSetting, match="To register a thing, give"):
        things.names()


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("from pellucid.base.kinds import metrics\n@metrics.add()\ndef f(): ...\n", 1),
        ("from pellucid.base.kinds import (\n    datasets,\n    metrics as m,  # one, two\n)\nm.add(x)\n", 1),
        ("from pellucid.base import kinds as k\n@k.metrics.add()\ndef f(): ...\n", 1),
        ("import pellucid.base.kinds\npellucid.base.kinds.metrics.add(x)\n", 1),
        ("def f():\n    from unknown_module import metrics\n    metrics.add(x)\n    metrics.add(y)\n", 2),
        ("from pellucid.base.kinds import datasets\n@datasets.add()\ndef f(): ...\n", 0),
        ("from pellucid.base.kinds import metrics\nnames = set()\nnames.add(metrics)\n", 0),
    ],
)  # fmt: skip
def test_a_file_is_parsed_only_if_it_may_register_here(text, calls):
    assert registrations._calls_in_text(text, kinds.metrics) == calls
