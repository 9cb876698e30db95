"""What is promised whatever comes: a right result that can be kept and drawn, or an error that says what is wrong."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import pellucid
from pellucid.core.foundation.errors import PellucidError
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Table
from pellucid.core.text.units import SPECIAL, Units
from pellucid.reports.markup.escape import visible
from pellucid.reports.markup.html import ELEMENTS
from pellucid.reports.page.page import page, report
from pellucid.reports.terminal.explanation import terminal_text
from pellucid.reports.terminal.table import terminal_table
from tests.reports.parsed import Node, parsed

LONGEST_MESSAGE = 1400
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # what we write ourselves
LEAKS = ("Traceback", 'File "', " object at 0x", "<class '", "Errno")
CLASS = re.compile(r"(pl-[a-z0-9-]+|pellucid)( pl-[a-z0-9-]+)*")
ID = re.compile(r"part-\d+(-title)?")


def told_well(error: PellucidError) -> None:
    """The message is one or two sentences for people, and safe to print."""
    message = str(error)
    assert message.strip() not in ("", "None"), repr(message)
    assert len(message) <= LONGEST_MESSAGE, (len(message), message[:300])
    assert not [leak for leak in LEAKS if leak in message], message
    assert error.__suppress_context__ or error.__context__ is None, repr(error.__context__)
    assert message[0].isprintable() and " " in message, message


def right(explanation: Explanation) -> None:
    """Scores are numbers, and what they belong to stands in the text."""
    assert np.isfinite(explanation.scores).all()
    segments, units = explanation.example.segments, explanation.units
    _in_place(units if isinstance(units, Units) else units.parts, segments)
    prediction = explanation.prediction
    assert prediction.label in prediction.labels and len(set(prediction.labels)) == len(prediction.labels)
    assert np.isfinite(prediction.logits).all() and np.isfinite(prediction.probabilities).all()
    assert np.isfinite(explanation.target.value)
    whole = float(explanation.scores.sum(dtype=np.float64))
    size = float(np.abs(explanation.scores).sum(dtype=np.float64))
    if isinstance(units, Units) and units.kind == "piece":
        for kind in ("word", "sentence", "paragraph"):
            view = explanation.view(kind)
            _in_place(view.units, segments)
            assert abs(float(view.scores.sum(dtype=np.float64)) - whole) <= 1e-5 * size + 1e-12


def _in_place(units: Units, segments: Sequence[str]) -> None:
    last = (0, 0)
    for label, segment, start, end in zip(units.labels, units.segment, units.start, units.end, strict=True):
        if segment == SPECIAL:
            assert (start, end) == (0, 0)
            continue
        assert 0 <= start <= end <= len(segments[segment])
        assert label == segments[segment][start:end]
        assert (segment, start) >= last
        last = (segment, start)


def kept(explanations: Sequence[Explanation], folder: Path, endings: Sequence[str]) -> None:
    """What is saved reads back equal."""
    for ending in endings:
        path = folder / f"kept{ending}"
        pellucid.save(explanations, path)
        found = pellucid.read(path)
        assert same(found, explanations), [
            (_parts(one), _parts(other)) for one, other in zip(found, explanations, strict=True)
        ]


def same(found: Sequence[Explanation], saved: Sequence[Explanation]) -> bool:
    """Equal, where not a number equals not a number."""
    return len(found) == len(saved) and all(
        one.scores.tobytes() == other.scores.tobytes() and _parts(one) == _parts(other)
        for one, other in zip(found, saved, strict=True)
    )


def _parts(explanation: Explanation) -> str:
    parts = {
        name: getattr(explanation, name)
        for name in explanation.__dataclass_fields__
        if name not in ("scores", "units")
    }
    units = explanation.units
    shown = units if isinstance(units, Units) else (units.parts, units.first.tolist(), units.last.tolist())
    return repr((parts, shown))


def drawn_safely(explanations: Sequence[Explanation], folder: Path, table: Table | None = None) -> str:
    """The report holds the texts as text, and no element, attribute or address of theirs."""
    path = report(explanations, table, path=folder / "page.html", title="<title>", about=None)
    held = path.read_text(encoding="utf-8")
    root = parsed(held.removeprefix("<!doctype html>"))
    harmless(root)
    if explanations:
        shown = [node.text for node in root.every(css_class="pl-text")]
        for explanation in explanations:
            for text in explanation.example.segments:
                assert visible(text) in shown
    return held


def harmless(root: Node) -> None:
    """Elements, attributes, addresses, classes and names are ours; only titles and spoken labels hold what was given."""
    for node in root.every():
        assert node.tag in ELEMENTS | {"style"}, node.tag
        for key, value in node.attributes.items():
            assert not key.startswith(("on", "src", "xlink")) and key not in ("style", "data", "ping"), key
            assert key != "class" or CLASS.fullmatch(value), value
            assert key != "id" or ID.fullmatch(value), value
            assert key != "href" or ID.fullmatch(value.removeprefix("#")), value
            assert not _spoilt(value or "", tab=True), (key, value)
        assert not [
            child
            for child in node.children
            if isinstance(child, str) and _spoilt(child, tab=True, turns=True)
        ]


def page_of(title: str, sections: Sequence) -> Node:
    """A page's tree."""
    return parsed(page(title, sections).removeprefix("<!doctype html>"))


def printed_safely(results: Sequence[Explanation] | Table) -> None:
    """What a terminal draws holds no command to the terminal but our own colours."""
    for colour in (True, False):
        drawn = (
            [terminal_table(results, colour=colour, width=80)]
            if isinstance(results, Table)
            else [terminal_text(found, colour=colour, width=80) for found in results]
        )
        for text in drawn:
            assert not _spoilt(COLOUR.sub("", text) if colour else text, tab=True), text
            text.encode("utf-8")


def safe_to_print(text: str) -> None:
    """No control characters and no changes of direction."""
    assert not _spoilt(text, tab=True), text


def _spoilt(text: str, *, tab: bool = False, turns: bool = False) -> list[str]:
    """Characters that no reader should get: controls, halves of surrogate pairs and, unless isolated, turns."""
    allowed = "\n\t" if tab else "\n"
    return [
        character
        for character in set(text)
        if (unicodedata.category(character) in ("Cc", "Cs") and character not in allowed)
        or (not turns and character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    ]
