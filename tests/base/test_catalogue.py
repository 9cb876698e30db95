"""The catalogue: files and plug-ins register without a list, names are unique, and a wrong name gets the nearest."""

import builtins
import sys
import threading
from types import SimpleNamespace

import pytest

from pellucid.base import kinds
from pellucid.base.catalogue import Catalogue
from pellucid.base.errors import BadSetting, UnknownName

METHOD = '''"""A method from outside.

Doe (2030), "On Outside".
"""

from pellucid.base.kinds import attributions


@attributions.add(needs=frozenset(), cost="nothing")
def {name}(run, target, *, depth: int = 2):
    """Guess from outside.

    depth: how far out.
    """
'''


@pytest.fixture
def fresh(monkeypatch):
    """An empty catalogue of attribution methods instead of the real one."""
    real = kinds.attributions
    real.names()  # our own files register there, and must not be imported for the first time below
    empty = Catalogue(real.kind, real.room, real.requires, real.optional, real.group)
    monkeypatch.setattr(kinds, "attributions", empty)
    return empty


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution with one method, as pip would lay it out."""

    def installed(name, source=METHOD):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pellucid.methods]\n{name} = {name}_module\n")
        (tmp_path / f"{name}_module.py").write_text(source.format(name=name))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, f"{name}_module", raising=False)

    return installed


def test_a_plug_in_registers_by_its_entry_point(fresh, install):
    install("outside_guess")
    assert "outside_guess" in fresh.names()
    entry = fresh.get("outside_guess")
    assert entry.summary == "Guess from outside."
    assert entry.paper == 'Doe (2030), "On Outside".'
    assert entry.defaults == {"depth": 2}
    assert entry.settings({"depth": 5}) == {"depth": 5}
    assert entry.facts["signed"] is True


def test_a_plug_in_cannot_take_a_name_that_is_in_use(fresh, install):
    install("first_outside")
    install("second_outside", METHOD.replace("{name}", "first_outside"))
    with pytest.raises(BadSetting, match=r"'first_outside' is already registered by (first|second)_outside_module"):
        fresh.names()


def test_a_broken_plug_in_is_loud_each_time(fresh, install):
    install("broken_outside", "import no_such_module_of_ours")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_module_of_ours"):
            fresh.names()


def test_who_looks_while_another_thread_searches_waits_for_everything(tmp_path, monkeypatch):
    """The first thread is in the middle of the room's second file, which must be imported: its facts are computed."""
    room = tmp_path / "room_of_two"
    room.mkdir()
    amid, go_on = threading.Event(), threading.Event()
    things = Catalogue("thing", "room_of_two", requires=("cost",))

    def reached(name):
        if name.endswith("second"):
            amid.set()
            assert go_on.wait(10)
        return "much"

    monkeypatch.setattr(builtins, "reached_in_room", reached, raising=False)
    monkeypatch.setitem(sys.modules, "owner_of_things", SimpleNamespace(things=things))
    (room / "__init__.py").write_text("")
    for file in ("first", "second"):
        (room / f"{file}.py").write_text(
            "import builtins\n\nfrom owner_of_things import things\n\n\n"
            f"@things.add(cost=builtins.reached_in_room(__name__))\ndef {file}():\n    pass\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    lists = []
    threads = [threading.Thread(target=lambda: lists.append(things.names())) for _ in range(2)]
    threads[0].start()
    assert amid.wait(10)
    threads[1].start()
    threads[1].join(0.1)  # it would have its list by now
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert lists == [["first", "second"]] * 2


def catalogue():
    return Catalogue("thing", "pellucid.explaining.commands", requires=("cost",))


def test_everything_comes_sorted_and_by_its_own_name():
    things = catalogue()

    @things.add(cost="much")
    def zebra():
        """A zebra."""

    @things.add(cost="little")
    def ant():
        """An ant."""

    things._searched = True
    assert things.names() == ["ant", "zebra"]
    assert things.get("zebra").make is zebra
    assert things.get("ant").facts["cost"] == "little"


def test_an_unknown_name_raises_with_the_nearest_and_how_many_more_there_are():
    more = len(kinds.attributions.names()) - 1
    message = (
        rf"is called 'oclusion'\. Did you mean 'occlusion'\? There are {more} more; pellucid\.methods\(\) lists them\.$"
    )
    with pytest.raises(UnknownName, match=message):
        kinds.attributions.get("oclusion")


def test_a_name_like_no_other_raises_with_all_names():
    with pytest.raises(
        UnknownName,
        match=r"No pooler is called 'qqq'. There are: additive, dot, first_token, maximum, mean, rationale, span",
    ):
        kinds.poolers.get("qqq")


def test_two_files_cannot_register_one_name():
    things = catalogue()

    def ant():
        """One ant."""

    things.add(cost="little")(ant)
    things.add(cost="little")(ant)  # the same file imported again

    def other():
        """Another ant."""

    other.__name__, other.__module__ = "ant", "elsewhere"
    with pytest.raises(BadSetting, match=r"'ant' is already registered by tests.base.test_catalogue"):
        things.add(cost="little")(other)


@pytest.mark.parametrize("facts", ({}, {"price": "much"}, {"cost": "much", "price": "much"}))
def test_facts_that_are_missing_or_unknown_raise(facts):
    with pytest.raises(BadSetting, match="To register a thing, give"):
        catalogue().add(**facts)


@pytest.mark.parametrize("kind", ("attributions", "datasets", "penalties", "poolers"))
def test_every_registered_thing_says_what_it_is(kind):
    for name in (catalogue := getattr(kinds, kind)).names():
        entry = catalogue.get(name)
        assert entry.name == name
        assert entry.summary.endswith(".")
        assert entry.paper
        assert all(parameter for parameter in entry.defaults)


def test_a_setting_that_came_later_is_in_a_record_only_where_it_is_not_the_default():
    things = catalogue()

    @things.add(cost="much", later={"stripes"})
    def zebra(*, legs: int = 4, stripes: bool = True):
        """A zebra."""

    entry = things._entries["zebra"]
    assert entry.settings({}) == entry.settings({"stripes": True}) == {"legs": 4}
    assert entry.settings({"stripes": False}) == {"legs": 4, "stripes": False}
    assert "later" not in entry.facts
