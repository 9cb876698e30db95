"""The door `report`: results as one HTML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.base.checks import every, mapping, of_class, one_of
from pellucid.base.entry import Entry
from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.drawing.colours import Scale
from pellucid.explaining import report as page
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.results.span_analysis import SpanAnalysis
from pellucid.results.table import Table


def report(
    results: Any,
    table: Table | None = None,
    *,
    path: str | Path,
    title: str | None = None,
    about: Mapping[str, Any] | None = None,
    scale: Scale = "page",
) -> Path:
    """Write one HTML file, without script or network, that shows explanations and a comparison.

    results: from `explain`, one picture a method on its own scale, and where they are many, a summary before them; from
        `class_words`, the words of each class; from `explain_all`, all methods side by side on one scale, with their
        agreement; from `spans`, a table a text; from `error_analysis`, patterns with their texts; from
        `layer_analysis`, maps of layers and words (without a table); from `concepts`, plots of one word over the layers
        (without a table); from `attention_analysis`, the verdict with its tests
        (without a table); from `diff`, texts under two versions side by side (without a table); from
        `attack`, texts before and after (without a table).
    table: from `compare`; shown after the results.
    path: the file to write; a file that exists is replaced.
    title: the heading of the page; None: what the page shows.
    about: facts, name -> value, that stand last on the page.
    scale: what shares the colours of explanations: "page", all its texts, so that texts can be compared; or "text", each text
        by itself, so that the strongest word of every text has the full colour.

    Returns the path. Raises `BadInput` where there are neither results nor a table, `BadSetting` for another scale,
    `BadFile` where the file cannot be written.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> results = pellucid.explain(model, ["A good film.", "Dull."])
    >>> pellucid.report(results, path="page.html", title="Two reviews", about={"written by": "the quality team"}).name
    'page.html'
    >>> pellucid.report(results.words(min_texts=1), path="words.html").name
    'words.html'
    """
    for own_page in renderers.of_class("page_of", results):
        return _of_analysis(own_page, results, table, path, title, about)
    has_sections = page.has_sections(results)
    if not (has_sections or isinstance(results, SideBySide)):
        members = every(
            "results", results, Explanation | SpanAnalysis, "give what explain, spans or read returned"
        )
        results = results if isinstance(results, Results) else members  # `Results` know their seconds
    if table is not None:
        of_class("The table", table, Table, "give what compare returned")
    one_of("scale", scale, ("page", "text"))
    of_class("The title", title, str | None, "give a string")
    about = None if about is None else mapping("about", about)
    if isinstance(results, SideBySide):
        is_empty: bool = not results.explanations
    else:
        is_empty = not has_sections and not results
    if is_empty and table is None:
        raise BadInput("There is nothing to report: give explanations, a table, or both.")
    return page.report(results, table, path=path, title=title, about=about, scale=scale)


def _of_analysis(
    own_page: Entry,
    analysis: object,
    table: Table | None,
    path: str | Path,
    title: str | None,
    about: Mapping[str, Any] | None,
) -> Path:
    """The page of an analysis that has one of its own; raises `BadInput` where a comparison should stand on it too."""
    heading = own_page.facts["heading"].format(analysis)
    if table is not None:
        raise BadInput(f"The page “{heading}” has no comparison; write the table to a page of its own.")
    of_class("The title", title, str | None, "give a string")
    facts = None if about is None else mapping("about", about)
    written: Path = own_page.make(analysis, path=path, title=heading if title is None else title, about=facts)
    return written
