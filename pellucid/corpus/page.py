"""The pages of a run: up to a thousand texts a page, each written when it is read, and a page that leads to them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from urllib.parse import quote

from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.corpus.record import Run
from pellucid.drawing.html import Markup, element, fragment, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.page import Section, facts_section, write_report, written_on
from pellucid.drawing.wording import answer_name
from pellucid.explaining.report import guide_of, write_page
from pellucid.explaining.views.corpus import lines_section
from pellucid.explaining.views.opening import opening, texts_in_words
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide

TEXTS, CHARACTERS = 1000, 200_000  # of a page: 1.4 MB of short texts, less than 3 MB of long ones
WORDS = "The words of each class, over all texts: pellucid words "
LEADS = "Each page has a scale of its own for its colours, and mistakes come first in it."


@dataclass(frozen=True)
class TextsPage:
    """A page that was written. texts: how many. answers, wrong: of each answer how many, and how many are wrong."""

    file: Path
    texts: int
    answers: Counter[str]
    wrong: Counter[str]


@renderers.add(
    "page_of_run", draws="run", page_of=("pellucid.corpus.record.Run",), heading="Why the model decided as it did"
)
def report(run: Run, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the page of a run; of more texts than fit one, pages in a folder beside it that it leads to.

    about: facts that are shown last. Raises `BadInput` for a run without an explanation.
    """
    path, begun = Path(path), {method: list(islice(_groups(each), 2)) for method, each in run.by_method.items()}
    if not all(begun.values()):
        raise BadInput(
            f"There is nothing to report: no text of {run.folder.title} is explained; run the command of it again."
        )
    if all(len(groups) == 1 for groups in begun.values()):
        side_by_side = SideBySide({method: Results(tuple(group)) for method, (group,) in begun.items()})
        shown = next(iter(side_by_side.values())) if len(side_by_side) == 1 else side_by_side
        return write_page(shown, path=path, title=title, about=about)
    pages, first = _pages(run, path), next(iter(begun.values()))[0]
    n_texts = len(run) // len(run.methods)
    words = f"{WORDS}{run.folder.title} --html words.html{' --method METHOD' if len(pages) > 1 else ''}."
    sections = [_answers(next(iter(pages.values())))]
    sections += [_links(_heading(method, pages), of_method, path, words) for method, of_method in pages.items()]
    sections += [facts_section("What was done", "", about)] if about else []
    model, texts = f"Model {run.job.question['model']}", texts_in_words(n_texts, run.job.data)
    methods = f"Explained by {', '.join(map(readable, run.methods))}"
    opened = replace(opening(first[:1]), facts=(model, texts, methods, written_on()))
    return write_report(path, title=title, sections=sections, guide=guide_of(first), opening=opened)


def _heading(method: str, pages: Mapping[str, object]) -> str:
    return f"The texts, by {readable(method)}" if len(pages) > 1 else "The texts"


def _pages(run: Run, path: Path) -> dict[str, list[TextsPage]]:
    """Write the pages of each method."""
    pages: dict[str, list[TextsPage]] = {}
    page_numbers = count(1)
    for method, each in run.by_method.items():
        done, of_method = 0, pages.setdefault(method, [])
        for group in _groups(each):
            file = path.with_name(f"{path.stem}-pages") / f"{next(page_numbers):04d}.html"
            of_method.append(_written(group, done, file, path))
            done += len(group)
    return pages


def _groups(run: Run) -> Iterator[list[Explanation]]:
    """The texts of a page at a time, with their scores a word, which is all that pages show of pieces."""
    group, size = list[Explanation](), 0
    for explanation in run:
        length = sum(map(len, explanation.example.segments))
        if group and (len(group) == TEXTS or size + length > CHARACTERS):
            yield group
            group, size = [], 0
        is_cut = explanation.units.kind == "piece" and not explanation.rows
        group.append(explanation.view("word") if is_cut else explanation)
        size += length
    if group:
        yield group


def _written(group: list[Explanation], begun: int, file: Path, index: Path) -> TextsPage:
    """Write the page of some texts. begun: how many texts earlier pages have. index: the page that leads here."""
    lines = lines_section(group, 0, "page", any(shown.is_correct is not None for shown in group))
    back = element("p", element("a", "All pages", href=f"../{quote(index.name)}"))
    title = f"Texts {begun + 1:,} to {begun + len(group):,}"
    sections = [replace(lines, body=fragment(back, lines.body))]
    write_report(file, title=title, sections=sections, guide=guide_of(group), opening=opening(group[:1]))
    answers = Counter(answer_name(shown) for shown in group)
    wrong = Counter(answer_name(shown) for shown in group if shown.is_correct is False)
    return TextsPage(file, len(group), answers, wrong)


def _answers(pages: list[TextsPage]) -> Section:
    answers, wrong = Counter[str](), Counter[str]()
    for page in pages:
        answers += page.answers
        wrong += page.wrong
    rows = {answer: {"texts": count, "wrong": wrong[answer]} for answer, count in answers.most_common(MOST_ANSWERS)}
    return facts_section("The answers", "How often the model gave each, and how often a label says otherwise.", rows)


MOST_ANSWERS = 50  # in the table: a model that gives values has as many as texts


def _links(heading: str, pages: list[TextsPage], index: Path, words: str) -> Section:
    """A line a page: its texts, as a link, and how many of its answers are wrong."""
    head = element("tr", *(element("th", title, scope="col") for title in ("Texts", "Wrong")))
    rows, begun = list[Markup](), 0
    for page in pages:
        title = f"{begun + 1:,} to {begun + page.texts:,}"
        link = element("a", name(title), href=quote(page.file.relative_to(index.parent).as_posix()))
        rows.append(element("tr", element("td", link), element("td", name(f"{page.wrong.total():,}"))))
        begun += page.texts
    return Section(heading, f"{LEADS} {words}", scroll_box(table(head, rows, "pl-table pl-small"), "The pages"))
