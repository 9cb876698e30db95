"""Every kind of result has its views: what a notebook shows stands on a page too, and what is printed is registered."""

import importlib
import inspect
import pkgutil

import pytest

import pellucid.results
from pellucid.base.kinds import renderers

COMMON_PAGE = {"Explanation", "Results", "SideBySide", "SpanAnalysis", "ErrorAnalysis", "ClassWords", "Table"}
PARTS = {"Summary": "of the page of results", "TrustCard": "of the page of a table"}


def kinds():
    """The classes of results that a notebook shows."""
    names = [each.name for each in pkgutil.walk_packages(pellucid.results.__path__, "pellucid.results.")]
    members = [member for name in names for _, member in inspect.getmembers(importlib.import_module(name))]
    return sorted({each.__name__ for each in members if "_repr_html_" in getattr(each, "__dict__", ())})


def pages():
    return {renderers.get(name).facts["page_of"] for name in renderers.names()}


@pytest.mark.parametrize("kind", kinds())
def test_what_a_notebook_shows_has_a_page(kind):
    assert kind in COMMON_PAGE | PARTS.keys() or kind in pages()


def test_pages_are_of_kinds_that_there_are_and_say_what_they_show():
    entries = [renderers.get(name) for name in renderers.names()]
    assert {entry.facts["page_of"] for entry in entries} - {""} <= set(kinds())
    assert all(bool(entry.facts["page_of"]) == bool(entry.facts["heading"]) for entry in entries)


def test_each_kind_of_figure_is_drawn_once_for_a_result():
    figures = [
        (name, renderers.get(entry).facts["figure"])
        for entry in renderers.names()
        for name in renderers.get(entry).facts["figure_of"]
    ]
    assert len(figures) == len(set(figures)) >= 8
