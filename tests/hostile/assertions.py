"""Assertions for any input: a correct result that can be saved and drawn, or an error that says what is wrong."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.comparison.terminal import terminal_table
from pellucid.drawing.html import ELEMENTS, visible
from pellucid.drawing.page import page
from pellucid.explaining.report import write_page as report
from pellucid.explaining.views.terminal_explanation import terminal_text
from pellucid.results.explanation import Explanation
from pellucid.results.table import Table
from pellucid.text.units import SPECIAL, Units
from tests.shared.parsed import Node, parsed

LONGEST_MESSAGE = 1400
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # colours are the only commands that we send to a terminal
LEAKS = ("Traceback", 'File "', " object at 0x", "<class '", "Errno")
CLASS = re.compile(r"(pl-[a-z0-9-]+|pellucid)( pl-[a-z0-9-]+)*")
ID = re.compile(r"part-\d+(-title)?")


def assert_good_message(error: PellucidError) -> None:
    """The message is one or two sentences for people, and safe to print."""
    message = str(error)
    assert message.strip() not in ("", "None"), repr(message)
    assert len(message) <= LONGEST_MESSAGE, (len(message), message[:300])
    assert not [leak for leak in LEAKS if leak in message], message
    assert error.__suppress_context__ or error.__context__ is None, repr(error.__context__)
    assert message[0].isprintable() and " " in message, message


def assert_valid(explanation: Explanation) -> None:
    """Scores are numbers, and the units that they belong to are in the text."""
    assert np.isfinite(explanation.scores).all()
    segments, units = explanation.example.segments, explanation.units
    _assert_in_text(units if isinstance(units, Units) else units.parts, segments)
    prediction = explanation.prediction
    assert prediction.label in prediction.labels and len(set(prediction.labels)) == len(prediction.labels)
    assert np.isfinite(prediction.logits).all() and np.isfinite(prediction.probabilities).all()
    assert np.isfinite(explanation.target.value)
    whole = float(explanation.scores.sum(dtype=np.float64))
    size = float(np.abs(explanation.scores).sum(dtype=np.float64))
    if isinstance(units, Units) and units.kind == "piece":
        for kind in ("word", "sentence", "paragraph"):
            view = explanation.view(kind)
            _assert_in_text(view.units, segments)
            assert abs(float(view.scores.sum(dtype=np.float64)) - whole) <= 1e-5 * size + 1e-12


def _assert_in_text(units: Units, segments: Sequence[str]) -> None:
    last = (0, 0)
    for label, segment, start, end in zip(units.labels, units.segment, units.start, units.end, strict=True):
        if segment == SPECIAL:
            assert (start, end) == (0, 0)
            continue
        assert 0 <= start <= end <= len(segments[segment])
        assert label == segments[segment][start:end]
        assert (segment, start) >= last
        last = (segment, start)


def assert_round_trip(explanations: Sequence[Explanation], folder: Path, endings: Sequence[str]) -> None:
    """What is saved is equal when it is read."""
    for ending in endings:
        path = folder / f"saved{ending}"
        pellucid.save(explanations, path)
        read_back = pellucid.read(path)
        assert same(read_back, explanations), [
            (_parts(one), _parts(other)) for one, other in zip(read_back, explanations, strict=True)
        ]


def same(read_back: Sequence[Explanation], saved: Sequence[Explanation]) -> bool:
    """Whether both are equal; not-a-number counts as equal to itself."""
    return len(read_back) == len(saved) and all(
        one.scores.tobytes() == other.scores.tobytes() and _parts(one) == _parts(other)
        for one, other in zip(read_back, saved, strict=True)
    )


def _parts(explanation: Explanation) -> str:
    parts = {
        name: getattr(explanation, name) for name in explanation.__dataclass_fields__ if name not in ("scores", "units")
    }
    units = explanation.units
    shown = units if isinstance(units, Units) else (units.parts, units.first.tolist(), units.last.tolist())
    return repr((parts, shown))


def assert_drawn_safely(explanations: Sequence[Explanation], folder: Path, table: Table | None = None) -> str:
    """The report contains the texts as text, and no element, attribute or address from them."""
    path = report(explanations, table, path=folder / "page.html", title="<title>", about=None)
    html = path.read_text(encoding="utf-8")
    root = parsed(html.removeprefix("<!doctype html>"))
    assert_harmless(root)
    if explanations:
        shown = [node.text for node in root.every(css_class="pl-text")]
        for explanation in explanations:
            for text in explanation.example.segments:
                assert visible(text) in shown
    return html


def assert_harmless(root: Node) -> None:
    """Elements, attributes, addresses, classes and names are ours; only titles and spoken labels repeat the input."""
    for node in root.every():
        assert node.tag in ELEMENTS | {"style"}, node.tag
        for key, value in node.attributes.items():
            assert not key.startswith(("on", "src", "xlink")) and key not in ("style", "data", "ping"), key
            assert key != "class" or CLASS.fullmatch(value), value
            assert key != "id" or ID.fullmatch(value), value
            assert key != "href" or ID.fullmatch(value.removeprefix("#")), value
            assert not _unsafe_characters(value or "", tab=True), (key, value)
        assert not [
            child
            for child in node.children
            if isinstance(child, str) and _unsafe_characters(child, tab=True, turns=True)
        ]


def page_of(title: str, sections: Sequence) -> Node:
    """The tree of a page."""
    return parsed(page(title, sections).removeprefix("<!doctype html>"))


def assert_printed_safely(results: Sequence[Explanation] | Table) -> None:
    """Terminal output contains no command to the terminal except our own colours."""
    for colour in (True, False):
        drawn = (
            [terminal_table(results, colour=colour, width=80)]
            if isinstance(results, Table)
            else [terminal_text(one, colour=colour, width=80) for one in results]
        )
        for text in drawn:
            assert not _unsafe_characters(COLOUR.sub("", text) if colour else text, tab=True), text
            text.encode("utf-8")


def assert_safe_to_print(text: str) -> None:
    """No control characters and no changes of direction."""
    assert not _unsafe_characters(text, tab=True), text


def _unsafe_characters(text: str, *, tab: bool = False, turns: bool = False) -> list[str]:
    """Control characters, halves of surrogate pairs and, unless they are isolated, changes of direction.

    tab, turns: whether tabs, changes of direction are allowed.
    """
    allowed = "\n\t" if tab else "\n"
    return [
        character
        for character in set(text)
        if (unicodedata.category(character) in ("Cc", "Cs") and character not in allowed)
        or (not turns and character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    ]
