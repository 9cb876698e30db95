"""Which rows of a run a reader wants, in which order: a form whose fields stand in the address, and what fits."""

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput
from pellucid.base.processes import Progress
from pellucid.corpus.folder import FIRST, KEYS
from pellucid.corpus.record import Run
from pellucid.drawing.html import Markup, element
from pellucid.drawing.widgets import button, choice, form, labelled, link, widget
from pellucid.studio.run_rows import (
    NOT_THERE,
    RIGHT,
    WRONG,
    OpenRun,
    RunRows,
    columns_of,
    read_shards,
    same_classes,
    shard_columns,
)
from pellucid.studio.visit import Visit

MOST_WORD = 100  # characters of a word that is looked for
OUTCOMES = {"wrong": WRONG, "right": RIGHT}
CAUTIONS = ("with", "without")
CHANGED = "changed"
ORDERS = {
    CHANGED: "most changed first",
    "mistakes": "surest mistakes first",
    "unsure": "least sure first",
    "rows": "as in the data",
}
MOST_NAMES = 100  # of answers or labels that a list shows; of more, the name is typed
ANY = ("", "any")
OUTCOME = (ANY, ("wrong", "wrong"), ("right", "right"))
CAUTION = (ANY, ("with", "with a caution"), ("without", "without"))
Matrices = tuple[np.ndarray, tuple[str, ...], np.ndarray]  # rows, classes, probabilities [row class]


@dataclass(frozen=True)
class RowChoice:
    """The fields of the form, as they stand in the address; "" wants nothing in particular.

    label, answer: a name. outcome: "wrong" or "right". least, most: per cent that the answer's probability lies
    between. caution: "with" or "without". word: that the text holds. order: one of `ORDERS`. beside: another run of the
    same texts.
    """

    label: str = ""
    answer: str = ""
    outcome: str = ""
    least: str = ""
    most: str = ""
    caution: str = ""
    word: str = ""
    order: str = ""
    beside: str = ""

    @property
    def sorting(self) -> str:
        """The order; where none is named, mistakes first, and beside another run the most changed."""
        return self.order or (CHANGED if self.beside else "mistakes")

    @property
    def query(self) -> dict[str, str]:
        """What an address has to say of it."""
        return {name: value for name, value in asdict(self).items() if value}


def choice_of(query: Mapping[str, str]) -> RowChoice:
    """The choice of an address; raises `BadInput` where it says something else than the form can."""
    wanted = RowChoice(**{field.name: query.get(field.name, "") for field in fields(RowChoice)})
    for name, allowed in (("outcome", tuple(OUTCOMES)), ("caution", CAUTIONS), ("order", tuple(ORDERS))):
        value = getattr(wanted, name)
        if value and value not in allowed:
            raise BadInput(f"{name}={quoted(value)} in the address is none of: {', '.join(allowed)}.")
    for name in ("least", "most"):
        value = getattr(wanted, name)
        if value and not (value.isascii() and value.isdecimal() and len(value) < 4 and int(value) <= 100):
            raise BadInput(f"{name}={quoted(value)} in the address is no per cent; give a whole number from 0 to 100.")
    if len(wanted.word) > MOST_WORD:
        raise BadInput(f"The word has {len(wanted.word):,} characters; give {MOST_WORD} or fewer.")
    return wanted


def row_form(visit: Visit, title: str, opened: OpenRun, wanted: RowChoice) -> Markup:
    """The form, with what is wanted now."""
    facts = opened.facts
    order = [(name, title) for name, title in ORDERS.items() if name != CHANGED or wanted.beside]
    return form(
        visit.address("run", title),
        _names("answer", "Answer", facts.counts(facts.answers), wanted.answer),
        _names("label", "Label", facts.counts(facts.labels), wanted.label),
        labelled("The answer is", choice("outcome", OUTCOME, wanted.outcome)),
        _percent("least", "Sure: from", wanted.least),
        _percent("most", "to", wanted.most),
        labelled("Caution", choice("caution", CAUTION, wanted.caution)),
        labelled("Word", widget("input", type="text", name="word", value=wanted.word, maxlength=MOST_WORD, dir="auto")),
        labelled("Order", choice("order", order, wanted.sorting)),
        _beside(visit, title, opened, wanted),
        button("Show", class_="st-main"),
        element("span", link("All of them", visit.address("run", title))) if wanted.query else None,
        method="get",
        css_class="st-form st-rows",
    )


def _names(field: str, title: str, counts: Mapping[str, int], current: str) -> Markup | None:
    """A list of names with how often each occurs; nothing where there is none."""
    if not counts:
        return None
    if len(counts) > MOST_NAMES:
        return labelled(title, widget("input", type="text", name=field, value=current, dir="auto"))
    entries = [(each, f"{each} ({count:,})") for each, count in counts.items() if each]
    return labelled(title, choice(field, [ANY, *entries], current))


def _percent(field: str, title: str, current: str) -> Markup:
    return labelled(title, widget("input", type="number", name=field, value=current, min=0, max=100, placeholder="%"))


def _beside(visit: Visit, title: str, opened: OpenRun, wanted: RowChoice) -> Markup | None:
    """Other runs of the same texts; nothing where there is none."""
    runs = visit.studio.runs
    same = [each for each, stored in runs.items() if each != title and are_of_same_texts(opened.run, stored)]
    entries = [("", "no other run"), *((each, each) for each in same)]
    return labelled("Beside", choice("beside", entries, wanted.beside)) if same else None


def fitting_rows(opened: OpenRun, beside: OpenRun | None, wanted: RowChoice, progress: Progress) -> np.ndarray:
    """The numbers of the rows that fit, in the wanted order. beside: the other run, for rows that both have."""
    rows = opened.facts
    fits = _fits(rows, wanted)
    if beside is not None:
        fits &= beside.facts.answers != NOT_THERE
    if wanted.word:
        fits &= with_word(opened, wanted.word, progress)
    numbers = np.flatnonzero(fits).astype(np.int32)
    apart = changes(opened, beside, progress) if wanted.sorting == CHANGED and beside is not None else None
    return numbers[_order(rows, numbers, wanted, apart)]


def _fits(rows: RunRows, wanted: RowChoice) -> np.ndarray:
    fits = rows.answers != NOT_THERE
    for name, codes in ((wanted.answer, rows.answers), (wanted.label, rows.labels)):
        if name:
            fits &= codes == (rows.names.index(name) if name in rows.names else len(rows.names))
    if wanted.outcome:
        fits &= rows.outcome == OUTCOMES[wanted.outcome]
    if wanted.least:
        fits &= rows.probability >= np.float32(int(wanted.least) / 100)
    if wanted.most:
        fits &= rows.probability <= np.float32(int(wanted.most) / 100)
    if wanted.caution:
        fits &= (rows.cautions > 0) == (wanted.caution == "with")
    return fits


def _order(rows: RunRows, numbers: np.ndarray, wanted: RowChoice, apart: np.ndarray | None) -> np.ndarray:
    """The places of these rows in order: surest mistakes first and then the least sure, as a report has them; the least
    sure first; those whose answers changed most; or as in the data.
    """
    sure = np.nan_to_num(rows.probability[numbers], nan=0.0)
    if wanted.sorting == "rows":
        return np.arange(len(numbers))
    if apart is not None:
        return np.argsort(-apart[numbers], kind="stable")
    if wanted.sorting == "unsure":
        return np.argsort(sure, kind="stable")
    is_wrong = rows.outcome[numbers] == WRONG
    wrong, others = np.flatnonzero(is_wrong), np.flatnonzero(~is_wrong)
    orders = np.argsort(-sure[wrong], kind="stable"), np.argsort(sure[others], kind="stable")
    return np.concatenate([wrong[orders[0]], others[orders[1]]])


# Words.


def with_word(opened: OpenRun, word: str, progress: Progress) -> np.ndarray:
    """[row] whether a text holds the word, whatever its capitals; the texts are read once more for it."""
    holds = opened.columns.get(word)
    if holds is None:
        run, pattern = opened.run, word_pattern(word)
        holds = np.zeros(run.job.rows, bool)
        for numbers, is_in in read_shards(range(run.job.shards), partial(_with_word, run, word, pattern), progress):
            holds[numbers] = is_in
        opened.columns.set(word, holds)
    return holds


def _with_word(run: Run, word: str, pattern: str, shard: int) -> tuple[np.ndarray, np.ndarray]:
    table = columns_of(run.folder.rows_file(shard), ("row", "segments"))
    segments = table.column("segments").combine_chunks()
    texts, of_row = segments.flatten(), pc.list_parent_indices(segments).to_numpy()
    candidates = np.flatnonzero(pc.match_substring(texts, word, ignore_case=True).to_numpy(zero_copy_only=False))
    is_whole = pc.match_substring_regex(texts.take(pa.array(candidates)), pattern).to_numpy(zero_copy_only=False)
    holds = np.zeros(len(segments), bool)
    holds[of_row[candidates[is_whole]]] = True
    return table.column("row").to_numpy(), holds


def word_pattern(word: str) -> str:
    r"""The word as a pattern of RE2, every character of it escaped. At a letter that has a capital, and at a digit, the
    word must end; in scripts without capitals, which may write no blanks, it may stand within a longer one.
    """
    escaped = "".join(f"\\x{{{ord(character):x}}}" for character in word)
    before, after = r"(?:^|[^\pL\pN_])", r"(?:$|[^\pL\pN_])"
    return f"(?i){before if _ends_words(word[0]) else ''}{escaped}{after if _ends_words(word[-1]) else ''}"


def _ends_words(character: str) -> bool:
    return character.lower() != character.upper() or unicodedata.category(character) == "Nd"


# Two runs of the same texts.


def are_of_same_texts(run: Run, second: Run) -> bool:
    """Whether two runs are of the same texts in the same order."""
    if run.job.rows != second.job.rows:
        return False
    return np.array_equal(run.folder.array(KEYS), second.folder.array(KEYS))


def changes(opened: OpenRun, beside: OpenRun, progress: Progress) -> np.ndarray:
    """[row] how far two runs' answers lie apart: half the sum of what each class's probability moved, 0 to 1; where
    there are no probabilities, 1 for another answer.
    """
    key = ("changes", beside.run.path, beside.shards)
    apart = opened.columns.get(key)
    if apart is None:
        runs = opened.run, beside.run
        of_first = np.zeros(opened.run.job.rows, np.float32)
        shards = sorted(runs[0].folder.receipts() & runs[1].folder.receipts())
        for numbers, moved in read_shards(shards, partial(_changes, *runs), progress):
            of_first[numbers] = moved
        apart = of_first[np.asarray(opened.run.folder.array(FIRST))]
        opened.columns.set(key, apart)
    return apart


def _changes(run: Run, second: Run, shard: int) -> tuple[np.ndarray, np.ndarray]:
    columns = ("row", "predicted", "classes", "probabilities")
    tables = [shard_columns(each, shard, columns) for each in (run, second)]
    matrices = [_matrix(table) for table in tables]
    if matrices[0] is not None and matrices[1] is not None:
        return _moved_together(matrices[0], matrices[1])
    records = {record["row"]: record for record in tables[1].to_pylist()}
    pairs = [(record, records[record["row"]]) for record in tables[0].to_pylist() if record["row"] in records]
    return np.array([first["row"] for first, _ in pairs], int), np.array([_moved(*pair) for pair in pairs], float)


def _matrix(table: pa.Table) -> Matrices | None:
    same = same_classes(*(table.column(name).combine_chunks() for name in ("classes", "probabilities")))
    return None if same is None else (table.column("row").to_numpy(), same[0], same[1][0])


def _moved_together(first: Matrices, then: Matrices) -> tuple[np.ndarray, np.ndarray]:
    """The rows that both have, and how far each moved."""
    numbers, before, after = np.intersect1d(first[0], then[0], assume_unique=True, return_indices=True)
    moved = np.zeros(len(numbers))
    for name in dict.fromkeys([*first[1], *then[1]]):
        chances = [
            matrix[places, classes.index(name)] if name in classes else 0.0
            for (_, classes, matrix), places in ((first, before), (then, after))
        ]
        moved += np.abs(chances[0] - chances[1]) / 2
    return numbers, moved


def _moved(first: Mapping[str, Any], then: Mapping[str, Any]) -> float:
    before, after = (dict(zip(each["classes"], each["probabilities"], strict=False)) for each in (first, then))
    if not before or not after:
        return float(first["predicted"] != then["predicted"])
    return sum(abs(before.get(name, 0.0) - after.get(name, 0.0)) for name in before.keys() | after.keys()) / 2
