"""The view of runs: the rows of a stored run, as a reader chooses them, fifty a page; each opens as a text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pellucid.base.errors import BadInput, PellucidError
from pellucid.base.kinds import views
from pellucid.base.processes import Progress
from pellucid.corpus.folder import Job
from pellucid.corpus.record import Run
from pellucid.drawing.emphasis import Scales
from pellucid.drawing.html import Markup, element, fragment, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.page import methods_key, shared_cautions, shared_caveats, texts_view
from pellucid.drawing.widgets import link
from pellucid.drawing.wording import answer_name, percent, short_ids, sureness
from pellucid.explaining.views.class_words import class_words_view, words_intro
from pellucid.explaining.views.corpus import (
    LONGEST_ID,
    Text,
    folded_line,
    folded_lines,
    light_picture,
    text_line,
    usual_scales,
)
from pellucid.results.class_words import ClassWords, class_words
from pellucid.results.explanation import Explanation
from pellucid.studio.beside import in_a_line
from pellucid.studio.frame import refused_runs
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.row_choice import RowChoice, are_of_same_texts, choice_of, fitting_rows, row_form
from pellucid.studio.run_rows import RIGHT, WRONG, OpenRun, opened_run
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.text.passages import place_of, turns_of

ROWS = 50  # of a page
CHARACTERS = 200_000  # of the pictures of a page; further rows are lines alone
WORD_TEXTS, GROUP = 3_000, 150  # texts whose words are counted; so many neighbouring rows of each part of the choice


@views.add(title="Runs")
def run(visit: Visit) -> Page | Elsewhere:
    """The runs that are open; with a name in the address, the rows of one; with a number behind it, a row."""
    if not visit.path:
        return Page("Runs", [_runs(visit), refused_runs(visit.studio)])
    title, stored = visit.path[0], visit.studio.run(visit.path[0])
    if len(visit.path) > 1:
        return _row(visit, title, visit.path[1])
    show = visit.query.get("show", "")
    if show == "failures":
        return _page(visit, title, _failures(visit, title, stored))
    choice = choice_of(visit.query)
    opened = opened_run(visit.studio, title, visit.reader)
    beside = _beside(visit, title, stored, choice)
    rows = _fitting(visit, title, opened, beside, choice)
    if show == "words":
        return _page(visit, title, _words(visit, title, opened, choice, rows))
    shown = _on_page(visit, rows)
    saved = partial(opened.explanations, shown) if shown else None
    return _page(visit, title, _texts(visit, title, opened, beside, choice, rows), saved)


def _page(
    visit: Visit,
    title: str,
    body: Iterator[Markup | None],
    saved: Callable[[], Sequence[Explanation]] | None = None,
) -> Page:
    """A page about a run. saved: the explanations that a report of it holds."""
    job = visit.studio.run(title).job
    of_report = None if saved is None else lambda: (saved(), None)
    content = [_facts(visit, title, job), *body]
    return Page(f"Run {title}", content, model_of(visit, job), list(job.methods), of_report=of_report)


def model_of(visit: Visit, job: Job) -> str:
    """The name of the open model that a run is by; "" where it is not open."""
    models = visit.studio.models
    return next((title for title, model in models.items() if model.hash == job.question.get("weights")), "")


def _beside(visit: Visit, title: str, stored: Run, choice: RowChoice) -> OpenRun | None:
    if not choice.beside:
        return None
    if not are_of_same_texts(stored, visit.studio.run(choice.beside)):
        raise BadInput(f"The runs {title} and {choice.beside} are of different texts; choose another one.")
    return opened_run(visit.studio, choice.beside, visit.reader)


def _fitting(visit: Visit, title: str, opened: OpenRun, beside: OpenRun | None, choice: RowChoice) -> np.ndarray:
    """The rows of a choice in order; computed at the run's desk, and remembered for its next pages."""
    key = (choice, opened.shards, None if beside is None else beside.shards)
    rows: np.ndarray | None = opened.orders.get(key)
    if rows is None:
        desk, question = visit.studio.desks[f"run {title}"], ("rows of", key)
        rows = desk.answer(question, visit.reader, partial(fitting_rows, opened, beside, choice))
        opened.orders.set(key, rows)
        desk.forget(question)
    assert rows is not None
    return rows


# The runs that are open.


def _runs(visit: Visit) -> Markup:
    """A line a run: model, method, data, how far it is."""
    head = header_row(("Run", "Model", "Method", "Data", "Texts"))
    rows = (_run_line(visit, title, stored) for title, stored in visit.studio.runs.items())
    return scroll_box(table(head, rows, "pl-table pl-small"), "The runs that are open")


def _run_line(visit: Visit, title: str, stored: Run) -> Markup:
    job = stored.job
    cells = (
        name(str(job.question["model"])),
        name(readable(stored.method)),
        name(job.data),
        name(_progress_in_words(stored)),
    )
    first = element("th", link(name(title), visit.address("run", title)), scope="row")
    return element("tr", first, *(element("td", cell) for cell in cells))


def _progress_in_words(stored: Run) -> str:
    """How many rows there are, and how much of them is computed."""
    shards, job = len(stored.folder.receipts()), stored.job
    if shards >= job.shards:
        return f"{job.rows:,}"
    return f"{percent(shards / job.shards)} computed of {job.rows:,}"


def _facts(visit: Visit, title: str, job: Job) -> Markup:
    """What the run is of, with links to what else is known of it."""
    stored = visit.studio.run(title)
    facts = [
        f"Model {job.question['model']}",
        f"Data {job.data}",
        f"{_progress_in_words(stored)} texts",
        f"Explained by {readable(stored.method)}",
        *([] if model_of(visit, job) else ["The model is not open: rows are shown as they were explained"]),
    ]
    return element("p", *(element("span", name(fact)) for fact in facts), class_="pl-known")


# A page of rows.


def _texts(
    visit: Visit, title: str, opened: OpenRun, beside: OpenRun | None, choice: RowChoice, rows: np.ndarray
) -> Iterator[Markup | None]:
    yield row_form(visit, title, opened, choice)
    yield element("h2", "The texts")
    yield _counts(visit, title, opened, choice, rows)
    if not len(rows):
        yield element("p", "No text fits all of these conditions; take some away.")
        return
    page, shown = _page_number(visit, rows), _on_page(visit, rows)
    explanations, others = _explained(opened, shown), None if beside is None else _explained(beside, shown)
    scales = usual_scales([*explanations, *(others or ())])
    yield shared_cautions(shared_caveats(explanations))
    listing = choice.query | ({"page": str(page)} if page > 1 else {})
    yield folded_lines(list(_lines(visit, title, shown, explanations, others, choice, scales, listing)))
    yield _pager(visit, title, choice, page, len(rows))
    yield methods_key(explanations, scales, checks=True)


def _page_number(visit: Visit, rows: np.ndarray) -> int:
    return min(max(1, visit.whole_number("page", 1)), max(1, -(-len(rows) // ROWS)))


def _on_page(visit: Visit, rows: np.ndarray) -> list[int]:
    """The rows that the visited page shows."""
    page = _page_number(visit, rows)
    return rows[(page - 1) * ROWS : page * ROWS].tolist()


def _explained(opened: OpenRun, rows: Sequence[int]) -> list[Explanation]:
    """The explanations of rows, with their scores a word, which is all that a line shows of pieces."""
    shown = opened.explanations(rows)
    return [each.view("word") if each.units.kind == "piece" and not each.rows else each for each in shown]


def _lines(
    visit: Visit,
    title: str,
    rows: Sequence[int],
    explanations: Sequence[Explanation],
    others: Sequence[Explanation] | None,
    choice: RowChoice,
    scales: Scales,
    listing: Mapping[str, str],
) -> Iterator[Markup]:
    """A line a row, which opens into its picture. listing: what an address has to say to lead back to these lines."""
    ids, characters = short_ids([shown.example.id for shown in explanations], LONGEST_ID), 0
    for place, (row, explanation) in enumerate(zip(rows, explanations, strict=True)):
        line, second = text_line(Text(row, [explanation], 1), ids), None if others is None else others[place]
        if second is not None:
            line[2:4] = [_both(explanation, second), element("span", class_="pl-sure")]
        characters += sum(map(len, explanation.example.segments))
        pictures = [] if characters > CHARACTERS else [light_picture(explanation, scales)]
        if pictures and second is not None:
            named = ((title, pictures[0]), (choice.beside, light_picture(second, scales)))
            pictures = [fragment(element("h4", name(of_run)), picture) for of_run, picture in named]
        links = _row_links(visit, title, row, explanation.example.id, listing)
        yield folded_line(line, element("div", *pictures, links), False)


def _both(explanation: Explanation, second: Explanation) -> Markup:
    """The answers of two runs, and how sure they were."""
    answers = (
        f"{answer_name(shown)} {percent(sureness(shown)) if shown.prediction.probabilities else ''}".strip()
        for shown in (explanation, second)
    )
    return element("span", name(" → ".join(answers)), class_="pl-answered")


def _row_links(visit: Visit, title: str, row: int, row_id: str, listing: Mapping[str, str]) -> Markup:
    """The whole id, and where the row leads."""
    links = [link("All that is stored of it", visit.address("run", title, str(row), stored=1, **listing))]
    if model_of(visit, visit.studio.run(title).job):
        links.insert(0, link("Open as a text", visit.address("run", title, str(row), **listing)))
    return in_a_line([*([name(row_id)] if row_id else []), *links])


def _counts(visit: Visit, title: str, opened: OpenRun, choice: RowChoice, rows: np.ndarray) -> Markup:
    """How many rows fit, how many of them are mistakes, and links to their words and to what failed."""
    outcome = opened.facts.outcome[rows]
    wrong, judged = int((outcome == WRONG).sum()), int(np.isin(outcome, (RIGHT, WRONG)).sum())
    total = len(opened.facts.rows)
    counted = f"{len(rows):,} of {total:,} texts" if len(rows) < total else f"{total:,} texts"
    mistakes = f"; {wrong:,} of {judged:,} labelled ones wrong ({percent(wrong / judged)})" if judged else ""
    words = link("Words of each class in them", visit.address("run", title, **choice.query, show="words"))
    failed = link("What failed", visit.address("run", title, show="failures"))
    parts = (f"{counted}{mistakes}. ", words if len(rows) else None, " · " if len(rows) else None, failed)
    return element("p", *parts, class_="st-count")


def _pager(visit: Visit, title: str, choice: RowChoice, page: int, count: int) -> Markup | None:
    """Links to the first page, the neighbours and the last."""
    last = -(-count // ROWS)
    if last == 1:
        return None
    wanted = {"First": 1, "Previous": page - 1, "Next": page + 1, "Last": last}
    links = [
        fragment(" ", link(text, visit.address("run", title, **choice.query, page=target)))
        for text, target in wanted.items()
        if 1 <= target <= last and target != page
    ]
    return element("nav", f"Page {page:,} of {last:,}.", *links, aria_label="Pages", class_="pl-note")


# The words of each class in a choice of rows.


def _words(visit: Visit, title: str, opened: OpenRun, choice: RowChoice, rows: np.ndarray) -> Iterator[Markup | None]:
    yield element("p", link("Back to the texts", visit.address("run", title, **choice.query)))
    if not len(rows):
        yield element("p", "No text fits all of these conditions; take some away.")
        return
    counted = np.sort(rows)[_spread(len(rows))]
    key = ("words", replace(choice, order=""), opened.shards)
    words: ClassWords = visit.studio.desks[f"run {title}"].answer(
        key, visit.reader, partial(_words_of_rows, opened, counted.tolist())
    )
    spread = f" of these {len(rows):,}, spread evenly" if len(counted) < len(rows) else ""
    yield element("p", f"Counted in {len(counted):,} texts{spread}. {words_intro(words)}", class_="pl-lead")
    yield class_words_view(words)


def _spread(count: int) -> np.ndarray:
    """The places that are counted: of many, groups of neighbours, so that few shards are read."""
    if count <= WORD_TEXTS:
        return np.arange(count)
    groups = WORD_TEXTS // GROUP
    return np.concatenate([np.arange(GROUP) + group * count // groups for group in range(groups)])


def _words_of_rows(opened: OpenRun, rows: Sequence[int], progress: Progress) -> ClassWords:
    return class_words(_one_after_the_next(opened, rows, progress))


def _one_after_the_next(opened: OpenRun, rows: Sequence[int], progress: Progress) -> Iterator[Explanation]:
    for first in range(0, len(rows), GROUP):
        yield from opened.explanations(rows[first : first + GROUP])
        progress("counting words", min(first + GROUP, len(rows)), len(rows))


# What failed, and one row.


def _failures(visit: Visit, title: str, stored: Run) -> Iterator[Markup | None]:
    """The rows that failed, each with its reason, fifty a page."""
    yield element("p", link("Back to the texts", visit.address("run", title)))
    failures = list(stored.folder.failures(stored.job))
    if not failures:
        yield element("p", "No text has failed.")
        return
    page = min(max(1, visit.whole_number("page", 1)), -(-len(failures) // ROWS))
    head = header_row(("Row", "Id", "Why it has no explanation"))
    rows = (
        element("tr", *(element("td", name(cell)) for cell in (f"{failure.row:,}", failure.id, failure.reason)))
        for failure in failures[(page - 1) * ROWS : page * ROWS]
    )
    yield element("p", f"{len(failures):,} texts have no explanation; texts equal to them are not listed again.")
    yield scroll_box(table(head, rows, "pl-table pl-small"), "Texts that failed")
    last = -(-len(failures) // ROWS)
    neighbours = {"Previous": page - 1, "Next": page + 1}
    yield element(
        "nav",
        f"Page {page:,} of {last:,}.",
        *(
            fragment(" ", link(text, visit.address("run", title, show="failures", page=target)))
            for text, target in neighbours.items()
            if 1 <= target <= last
        ),
        aria_label="Pages",
        class_="pl-note",
    )


def _row(visit: Visit, title: str, written: str) -> Page | Elsewhere:
    """A row: as a text of its model, where that is open; else, or with stored=1, as it was explained."""
    stored = visit.studio.run(title)
    if not (written.isascii() and written.isdecimal() and len(written) < 10 and int(written) < stored.job.rows):
        raise BadInput(f"Run {title} has rows 0 to {stored.job.rows - 1:,}; go back and follow a link of the page.")
    opened = opened_run(visit.studio, title, visit.reader)
    (explanation,) = opened.explanations([int(written)])
    model = model_of(visit, stored.job)
    listing = choice_of(visit.query).query
    if page := visit.whole_number("page"):
        listing["page"] = str(page)
    if model and not visit.whole_number("stored") and (question := _question(model, explanation)):
        question = replace(question, run=title, choice=tuple(listing.items()))
        return Elsewhere(visit.address("text", visit.studio.requests.add(question)))
    back = element("p", link("← Back to the texts", visit.address("run", title, **listing)))
    body = iter([back, element("h2", "As it was explained"), texts_view([explanation])])
    return _page(visit, title, body, lambda: [explanation])


def _question(model: str, explanation: Explanation) -> TextRequest | None:
    """The question about a row's text; None where the text alone does not say what was asked, or is too long."""
    example = explanation.example
    if turns_of(example) or place_of(example):
        return None
    try:
        return checked(TextRequest(model, example.segments, label=example.label, id=example.id))
    except PellucidError:
        return None
