"""The door `judge_concepts`: are concepts better than chance, on texts that they were not found in? And its views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.base.checks import listed, whole
from pellucid.base.errors import BadInput
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import concept_judges, renderers
from pellucid.base.processes import Progress
from pellucid.discovery.concept import BesideChance
from pellucid.discovery.dictionaries import random_dictionary
from pellucid.discovery.effects import fitting_texts
from pellucid.discovery.judges import JudgedCase
from pellucid.discovery.measures import STAGE, effects_on
from pellucid.discovery.page import interval_cell, mean_and_bounds
from pellucid.discovery.record import LearntConcepts, check_same_model
from pellucid.discovery.states import MOST_STATES, sampled_states, state_question
from pellucid.drawing.html import Markup, element, header_row, name, scroll_box, table
from pellucid.drawing.method_facts import readable
from pellucid.drawing.page import Opening, Section, caveats_section, notebook_sections, write_report, written_on
from pellucid.drawing.terminal import Line, caution_lines, indented, line, printed, progress_bar
from pellucid.drawing.wording import bounds, three
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.explaining.views.opening import texts_in_words
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.text.example import Example, data_of, distinct_texts, seen_caveats
from pellucid.text.label_map import LabelMap

FEWEST = 20  # texts
INTRO = (
    "Each number is of texts that are named here, beside that of as many random directions drawn with the spread of "
    "the states. ▲ surely better than chance, ▼ surely worse, ○ unclear; each by its own 95 % interval."
)


@dataclass(frozen=True)
class ConceptVerdict:
    """What one judge says. judge: its name. meaning: what it measures. better: "higher" or "lower"."""

    judge: str
    meaning: str
    better: str
    beside: BesideChance

    @property
    def mark(self) -> str:
        """▲ surely better than chance, ▼ surely worse, ○ unclear."""
        over = self.beside.over
        good, bad = (over.low > 0, over.high < 0) if self.better == "higher" else (over.high < 0, over.low > 0)
        return "▲" if good else "▼" if bad else "○"


@dataclass(frozen=True, eq=False, repr=False)
class JudgedConcepts:
    """What all judges say of learnt concepts. about: name -> plain value."""

    verdicts: tuple[ConceptVerdict, ...]
    about: Mapping[str, object]
    caveats: tuple[str, ...] = ()

    def verdict(self, judge: str) -> ConceptVerdict:
        """What one judge says; raises `UnknownName` for a judge that does not exist."""
        entry = concept_judges.get(judge)
        return next(verdict for verdict in self.verdicts if verdict.judge == entry.name)

    def __repr__(self) -> str:
        return f"<JudgedConcepts: {', '.join(f'{verdict.judge} {verdict.mark}' for verdict in self.verdicts)}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_judged_concepts").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_judged_concepts").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON."""
        verdicts = [asdict(verdict) | {"mark": verdict.mark} for verdict in self.verdicts]
        return nan_as_none({"about": dict(self.about), "verdicts": verdicts, "caveats": list(self.caveats)})


def judge_concepts(
    model: ModelSource,
    data: Data,
    learnt: LearntConcepts | str | Path,
    *,
    n_texts: int = 50,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    progress: bool | Progress | None = None,
) -> JudgedConcepts:
    """Judge learnt concepts on other texts than those that they were found in, each number beside chance.

    model: the one that the concepts are of; or a folder, a hub name.
    data: texts, or the name of a data set, a file or a folder; their test part where there is one.
    learnt: what `find_concepts` returned, or its folder.
    n_texts: in how many texts, drawn at random, concepts are taken out.
    seed: a whole number; of draws and of searches that begin anew.
    text, label, label_map, progress: as in `explain`.

    Returns `JudgedConcepts`: the share of variance and of answers that concepts hold, completeness, how few they are,
    whether searches in these texts, with other seeds and in halves, find the same, the share that matters, and
    simulatability. Raises `BadInput` for fewer than 20 texts, `BadFile` for concepts of another model.

    >>> reviews = ["A good film.", "A dull film.", "Fine acting.", "Bad, dull acting."] * 10
    >>> concepts = pellucid.find_concepts("my-classifier", "reviews.csv", 1, n=3, method="svd")
    >>> judged = pellucid.judge_concepts("my-classifier", "reviews.csv", concepts)
    >>> judged.verdict("variance").better
    'higher'
    """
    whole("seed", seed, 0, HIGHEST_SEED)
    whole("n_texts", n_texts, 2, 10_000)
    model = model_from(model)
    learnt = learnt if isinstance(learnt, LearntConcepts) else LearntConcepts.read(learnt)
    check_same_model(learnt, model.hash, model.name)
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map}
    examples = examples_for(model, data, names_data=True, strange="allowed", **columns)
    distinct = distinct_texts(examples)
    if len(distinct) < FEWEST:
        raise BadInput(f"{len(distinct)} texts came, and concepts are judged on {FEWEST} or more; give more.")
    with progress_bar(progress) as show_progress:
        case = _case(model, distinct, learnt, n_texts, seed, show_progress)
        verdicts = []
        for index, judge in enumerate(concept_judges.names()):
            show_progress("judging concepts", index, len(concept_judges.names()))
            entry = concept_judges.get(judge)
            verdicts.append(ConceptVerdict(entry.name, entry.summary, str(entry.facts["better"]), entry.make(case)))
        show_progress("judging concepts", len(verdicts), len(verdicts))
    about = {
        "model": model.name,
        "layer": learnt.layer,
        "method": learnt.method,
        "n": len(learnt),
        "texts": len(distinct),
        "data": data_of([example.id for example in distinct]),
        "states": len(case.sample.states),
        "texts that concepts are taken out of": case.effects.texts,
        "seed": seed,
    }
    return JudgedConcepts(tuple(verdicts), about, seen_caveats(model, distinct))


def _case(
    model: Model, examples: Sequence[Example], learnt: LearntConcepts, n_texts: int, seed: int, progress: Progress
) -> JudgedCase:
    question = state_question(model, examples, learnt.layer, learnt.level, MOST_STATES, seed)  # type: ignore[arg-type]
    sample = sampled_states(question, None, progress)
    answered = [model.labels.index(answer.label) for answer in predictions(model, examples, progress)]
    texts = [examples[index] for index in fitting_texts(model, examples, n_texts, seed)]
    chance = random_dictionary(sample.states, len(learnt), seed)
    pair, report = (learnt.dictionary, chance), partial(progress, STAGE)
    effects = effects_on(model, texts, learnt.layer, question.level, pair, learnt.directions, report)
    return JudgedCase(learnt, sample, np.array(answered), effects, chance, seed)


def verdict_in_words(judged: JudgedConcepts) -> str:
    """Which judges say that the concepts are surely better than chance."""
    ahead = [readable(verdict.judge) for verdict in judged.verdicts if verdict.mark == "▲"]
    behind = [readable(verdict.judge) for verdict in judged.verdicts if verdict.mark == "▼"]
    best = f"Surely better than chance in {listed(ahead)}." if ahead else "Surely better than chance in nothing."
    return best + (f" Surely worse in {listed(behind)}." if behind else "")


@renderers.add(
    "page_of_judged_concepts",
    draws="judged concepts",
    page_of=("pellucid.discovery.judged.JudgedConcepts",),
    heading="Are these concepts better than chance?",
)
def judged_page(
    judged: JudgedConcepts, path: str | Path, title: str, about: Mapping[str, object] | None = None
) -> Path:
    """Write what the judges say to one HTML file; about is not needed, as all facts are there."""
    facts = (
        f"Model {judged.about['model']}",
        f"{judged.about['n']} concepts of layer {judged.about['layer']}, by {judged.about['method']}",
        texts_in_words(int(str(judged.about["texts"])), str(judged.about["data"])),
        written_on(),
    )
    guide = element("p", INTRO, class_="pl-lead")
    opening = Opening(facts, verdict_in_words(judged))
    return write_report(path, title=title, sections=_sections(judged), guide=guide, opening=opening)


def _sections(judged: JudgedConcepts) -> list[Section]:
    head = header_row(("judge", "concepts, 95 % interval", "random directions", "difference", "what it says"))
    rows = table(head, map(_row, judged.verdicts), "pl-table")
    sections = [Section("What the judges say", "", scroll_box(rows, "Judges of concepts"))]
    return [*sections, *([caveats_section(judged.caveats)] if judged.caveats else [])]


def _row(verdict: ConceptVerdict) -> Markup:
    css_class = {"▲": "pl-better", "▼": "pl-worse"}.get(verdict.mark, "pl-unclear")
    beside = verdict.beside
    cells = [interval_cell(each) for each in (beside.value, beside.chance)]
    over = element("td", *mean_and_bounds(beside.over), element("small", verdict.mark, class_=css_class))
    meaning = element("td", verdict.meaning, element("small", f"n = {beside.n:,}"), class_="pl-sentence")
    title = element("th", name(readable(verdict.judge)), element("small", f"{verdict.better} is better"), scope="row")
    return element("tr", title, *cells, over, meaning)


@renderers.add(draws="judged concepts")
def notebook_judged_concepts(judged: JudgedConcepts) -> str:
    """The table of judges, for `_repr_html_`."""
    return notebook_sections(_sections(judged))


@renderers.add(draws="judged concepts")
def terminal_judged_concepts(judged: JudgedConcepts, *, colour: bool | None = None, width: int | None = None) -> str:
    """A line a judge: the mark, the number, and chance.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    lines: list[Line] = [line(verdict_in_words(judged), style="bold"), *caution_lines(judged.caveats)]
    for verdict in judged.verdicts:
        beside = verdict.beside
        value, chance = f"{three(beside.value.mean)} ({bounds(beside.value)})", three(beside.chance.mean)
        rest = f"chance {chance}; {verdict.better} is better, n = {beside.n:,}"
        lines.append(line(f"{verdict.mark} {readable(verdict.judge)}: {value}, {rest}"))
        lines += indented([verdict.meaning])
    return printed(lines, colour, width)
