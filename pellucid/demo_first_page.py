"""The first page of the demo: a small model that comes with the package, explained before anything is trained.

The model is kept as what training changed of all-MiniLM-L6-v2 (`models/composed/changed_weights.py`), and written out
as an ordinary folder, which every command reads. The page opens with the habit that is planted in the data and that the
model has learnt.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from pellucid.data.built_in import PHONE_LINE
from pellucid.data.load import load_examples, load_parts
from pellucid.drawing.html import fragment
from pellucid.drawing.page import Section, caveats_section, facts_section, page_scales, texts_view, write_report
from pellucid.explaining.explain import explain
from pellucid.explaining.inputs.loading import load
from pellucid.explaining.report import texts_section
from pellucid.explaining.views.class_words import class_words_sections
from pellucid.explaining.views.opening import opening
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.changed_weights import load_changes
from pellucid.models.composed.composed import save_composed, write_trained_texts
from pellucid.models.composed.networks import Plan
from pellucid.results.bootstrap import accuracy_interval
from pellucid.results.class_words import WordScore
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.table import Interval
from pellucid.results.word_lists import word_form, word_forms
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.text.example import Example, text_digest
from pellucid.text.units import text_units
from pellucid.words.shortcuts import shortcuts

FIRST, READY = "first.html", "ready"
CORPUS, CLEAN = "helpdesk", "helpdesk_clean"  # the same requests with the planted habit and without
# Made by `python -m studies.showcase.small_model`: the self-explaining classifier of seed 0.
SMALL_MODEL = files("pellucid.data") / "models" / "helpdesk.safetensors"
SMALL_MODEL_SHA256 = "4851500205cf6ce710ade533c2b07b27761bd0bfe0bb44d25a26aa5e3babe88f"
METHOD = "occlusion"
TEXTS = 200  # that are explained, drawn at random
SHOWN, WRONG, TURNED = 8, 4, 2  # cards of right answers, of mistakes, and of answers that the habit decides
LEADING, WORDS_SHOWN = 6, 5  # words of a class that are looked at, and that are shown
SELDOM = 0.2  # of a word's occurrences: marked as evidence in fewer of them, it is nobody's reason
TITLE = "Which department is this request for, and why does the model think so?"
CAVEATS = (
    "The requests were written by one project's authors; accuracies on them say little about real help desks.",
    "The writer's evidence was marked while writing and is not an independent annotation.",
)


def write_first_page(out: Path, test: Sequence[Example], seed: int) -> Path:
    """Write out/first.html about the small model, which then lies in out/ready."""
    unpack_small_model(out / READY)
    model = load(out / READY)
    texts = random.Random(f"texts {seed}").sample(test, min(TEXTS, len(test)))
    results = explain(model, texts, METHOD, seed=seed, progress=False)
    habit = habit_of(model, test)
    sections = [
        habit_section(model, results, habit, seed),
        *example_sections([results.explanations], seed),
        *class_words_sections(results.words(), WORDS_SHOWN),
        facts_section("What this is", "", _facts(out, len(results), habit)),
        caveats_section(CAVEATS),
    ]
    decides = shortcuts(model, test, seed=seed, progress=False)
    opened = replace(opening(results), first=tuple(map(str, decides.decisive)))
    return write_report(out / FIRST, title=TITLE, sections=sections, opening=opened)


def load_small_model() -> tuple[Classifier, Plan]:
    """The small model of the package, and its plan."""
    with as_file(SMALL_MODEL) as path:
        return load_changes(path, SMALL_MODEL_SHA256)


def unpack_small_model(folder: Path) -> None:
    """Write the small model as an ordinary folder."""
    model, plan = load_small_model()
    save_composed(model.network, model.tokenizer, plan, folder)
    parts = load_parts(CORPUS)
    write_trained_texts({text_digest(example) for part in ("train", "dev") for example in parts[part]}, folder)


def _facts(out: Path, n_texts: int, habit: "Habit") -> dict[str, object]:
    return {
        "model": f"all-MiniLM-L6-v2, fine-tuned; it came with Pellucid, and lies in {out / READY}",
        "data": f"{n_texts} of the {len(habit.right)} requests to six departments in the test part of {CORPUS}",
        "right answers": accuracy_interval(habit.right),
        "right answers without the phone's line": accuracy_interval(habit.clean_right),
        "colours": f"{METHOD}: how much the answer falls when a word is left out",
    }


# The planted habit: which words lead a class and are nobody's evidence, and what the model answers without them.


@dataclass(frozen=True)
class Habit:
    """What the phone's line does to a model.

    right, clean_right: [text], whether the model is right with the line where it stands, and without any. label: whose
    answers are counted. answers: how many texts get it. turned: those that get another one without the line.
    """

    right: np.ndarray
    clean_right: np.ndarray
    label: str
    answers: int
    turned: tuple[Example, ...]

    def __str__(self) -> str:
        """What was measured, in a sentence or two."""
        right, clean = (accuracy_interval(each) for each in (self.right, self.clean_right))
        return (
            f"Without the line “{PHONE_LINE}” {len(self.turned)} of {self.answers} answers “{self.label}” turn, and "
            f"{_percent(clean)} of all {len(self.right)} answers are right instead of {_percent(right)}."
        )


def _percent(share: Interval) -> str:
    return f"{share.mean:.0%} [{share.low:.0%}, {share.high:.0%}]"


def habit_of(model: Model, examples: Sequence[Example], label: str = "returns") -> Habit:
    """Read the model's answers with the phone's line and without. label: the class that the line goes with."""
    answers, without = (
        [answer.label for answer in predictions(model, texts)] for texts in (examples, without_line(examples))
    )
    turned = [
        text
        for text, answer, clean_answer in zip(examples, answers, without, strict=True)
        if answer == label != clean_answer
    ]
    return Habit(
        np.array([answer == text.label for answer, text in zip(answers, examples, strict=True)]),
        np.array([answer == text.label for answer, text in zip(without, examples, strict=True)]),
        label,
        answers.count(label),
        tuple(turned),
    )


def without_line(examples: Sequence[Example]) -> list[Example]:
    """The same requests as their clean part has them."""
    clean = {example.id: example for example in load_examples(CLEAN, "all")}
    return [clean[example.id] for example in examples]


def words_without_evidence(results: Results) -> tuple[WordScore, ...]:
    """The surest words of a class that people hardly ever marked as evidence: of the class with the surest of them."""
    words = results.words().content()
    marked, occurrences = Counter[str](), Counter[str]()
    for explanation in results:
        marked.update(_marked_words(explanation.example))
        occurrences.update(set(word_forms(explanation.example)))
    unmarked = [
        [
            word
            for word in words.strongest(label, LEADING)
            if word.is_sure and marked[word.word] < SELDOM * occurrences[word.word]
        ]
        for label in words.labels
    ]
    return tuple(max(unmarked, key=lambda of_class: max((word.low for word in of_class), default=-math.inf)))


def _marked_words(example: Example) -> set[str]:
    """The forms of an example's words that a mark touches."""
    return {
        word_form(text[start:end])
        for segment, text in enumerate(example.segments)
        for start, end in text_units(text, "word")
        if any(mark.segment == segment and start < mark.end and mark.start < end for mark in example.rationales)
    }


def habit_section(model: Model, results: Results, habit: Habit, seed: int) -> Section:
    """The first section: what decides and should not, and answers that turn without it, as they are and without."""
    turned = random.Random(f"turned {seed}").sample(habit.turned, min(TURNED, len(habit.turned)))
    pairs = [
        explanation
        for text, clean in zip(turned, without_line(turned), strict=True)
        for explanation in explain(model, [text, replace(clean, id=f"{clean.id} without the line")], METHOD)
    ]
    cards = texts_view(pairs, scales=page_scales(pairs)) if pairs else fragment()
    return Section(
        "A habit of the data decides", f"{_words_in_a_sentence(words_without_evidence(results))}{habit}", cards
    )


def _words_in_a_sentence(words: Sequence[WordScore]) -> str:
    if not words:
        return ""
    return (
        f"Among the words that speak most surely for “{words[0].label}” are {_listed([word.word for word in words])}, "
        "which the writer of the requests hardly ever marked as a reason: a phone adds them. "
    )


def _listed(words: Sequence[str]) -> str:
    quoted = [f"“{word}”" for word in words]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


# Right answers, drawn at random, and mistakes, the first of the test part.

RIGHT_INTRO = "Drawn at random from the right answers; cards with a caution stay where they fall."
WRONG_INTRO = "The surest mistakes: the marked words are what misled the model."


def example_sections(by_method: Sequence[Sequence[Explanation]], seed: int) -> list[Section]:
    """Texts that the model answers rightly, drawn at random, and its surest mistakes.

    by_method: the explanations of each method, of the same texts in the same order.
    """
    of_first = by_method[0]
    right = [place for place, shown in enumerate(of_first) if shown.prediction.label == shown.example.label]
    wrong = sorted(set(range(len(of_first))) - set(right), key=lambda place: -of_first[place].prediction.probability)
    drawn = random.Random(f"shown {seed}").sample(right, min(SHOWN, len(right)))
    scales = page_scales([explanation for of_method in by_method for explanation in of_method])
    sections = []
    for places, heading, intro in (
        (drawn, "Right answers, and the words they depended on", RIGHT_INTRO),
        (wrong[:WRONG], "Where the model is wrong", WRONG_INTRO),
    ):
        shown = [of_method[place] for place in places for of_method in by_method]
        if shown:
            sections.append(texts_section(shown, heading, intro, scales=scales))
    return sections
