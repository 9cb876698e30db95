"""Every kind of result has its views: what a notebook shows stands on a page too, and what is printed is registered."""

import importlib
import inspect
from pathlib import Path

import pyarrow
import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers

COMMON_PAGE = {
    "Explanation",
    "Results",
    "SideBySide",
    "SpanAnalysis",
    "ErrorAnalysis",
    "ClassWords",
    "Table",
    "Shortcuts",
}
PARTS = {"Summary": "of the page of results", "TrustCard": "of the page of a table"}


def kinds():
    """The classes of results that a notebook shows, in whatever room."""
    package = Path(pellucid.__file__).parent
    files = [path for path in package.rglob("*.py") if "def _repr_html_" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in files]
    members = [member for name in names for _, member in inspect.getmembers(importlib.import_module(name))]
    return sorted({each.__name__ for each in members if "_repr_html_" in getattr(each, "__dict__", ())})


def pages():
    entries = [renderers.get(name) for name in renderers.names()]
    return {full_name.rpartition(".")[2] for entry in entries for full_name in entry.facts["page_of"]}


@pytest.mark.parametrize("kind", kinds())
def test_what_a_notebook_shows_has_a_page(kind):
    assert kind in COMMON_PAGE | PARTS.keys() or kind in pages()


def test_pages_are_of_kinds_that_there_are_and_say_what_they_show():
    entries = [renderers.get(name) for name in renderers.names()]
    for full_name in {full_name for entry in entries for full_name in entry.facts["page_of"]}:
        module, _, name = full_name.rpartition(".")
        assert name in kinds() and getattr(importlib.import_module(module), name).__module__ == module
    assert all(bool(entry.facts["page_of"]) == bool(entry.facts["heading"]) for entry in entries)


def test_each_kind_of_figure_is_drawn_once_for_a_result():
    figures = [
        (name, renderers.get(entry).facts["figure"])
        for entry in renderers.names()
        for name in renderers.get(entry).facts["figure_of"]
    ]
    assert len(figures) == len(set(figures)) >= 8


@pytest.mark.parametrize("draw", (pellucid.figure, pellucid.latex))
def test_a_class_of_another_library_with_the_name_of_ours_is_refused(draw):
    with pytest.raises(BadInput, match="Table came"):
        draw(pyarrow.table({"text": ["A good film."]}))


def test_a_class_derived_from_ours_has_its_views():
    class Longer(pellucid.Table):
        """A comparison with more to say."""

    assert renderers.of_class("latex_of", Longer.__new__(Longer))
    assert not renderers.of_class("page_of", Longer.__new__(Longer))
