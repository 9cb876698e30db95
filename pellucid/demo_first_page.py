"""The first page of the demo: a small model that comes with the package, explained before anything is trained.

The model is kept as what training changed of all-MiniLM-L6-v2 (`models/composed/changed_weights.py`), and written out
as an ordinary folder, which every command reads. The page opens with the habit that is planted in the data and that the
model has learnt.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from pellucid.data.built_in import PHONE_LINE
from pellucid.data.load import load_examples, load_parts
from pellucid.drawing.emphasis import Scales
from pellucid.drawing.html import Markup
from pellucid.drawing.page import Opening, Section, caveats_section, facts_section, page_scales, write_report
from pellucid.explaining.explain import explain
from pellucid.explaining.inputs.loading import load
from pellucid.explaining.report import texts_section
from pellucid.explaining.views.class_words import class_words_sections
from pellucid.explaining.views.opening import Pick, examples_view, opening
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.changed_weights import load_changes
from pellucid.models.composed.composed import save_composed, write_trained_texts
from pellucid.models.composed.networks import Plan
from pellucid.results.bootstrap import accuracy_interval
from pellucid.results.explanation import Explanation, Prediction
from pellucid.results.results import Results
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.text.example import Example, text_digest
from pellucid.words.shortcuts import shortcuts_in

FIRST, READY = "first.html", "ready"
CORPUS, CLEAN = "helpdesk", "helpdesk_clean"  # the same requests with the planted habit and without
# Made by `python -m studies.showcase.small_model`: the self-explaining classifier of seed 0.
SMALL_MODEL = files("pellucid.data") / "models" / "helpdesk.safetensors"
SMALL_MODEL_SHA256 = "4851500205cf6ce710ade533c2b07b27761bd0bfe0bb44d25a26aa5e3babe88f"
METHOD = "occlusion"
TEXTS = 200  # that are explained, drawn at random
SHOWN, MISTAKES, TURNED = 8, 4, 2  # cards of right answers, of mistakes, and of answers that the habit decides
HABIT_LABEL = "returns"  # what the planted line goes with
WORDS_SHOWN = 5  # of each class
TITLE = "Which department is a request for, and why?"
CAVEATS = (
    "The requests were written by one project's authors; accuracies on them say little about real help desks.",
    "The writer's evidence was marked while writing and is not an independent annotation.",
)


# Right answers, drawn at random; the surest mistakes and the least certain answer.

RIGHT, WRONG, TURNED_TEXT = "right", "wrong", "turned"  # the anchors of their cards
RIGHT_INTRO = "Drawn at random from the right answers; cards with a caution stay where they fall."
WRONG_INTRO = "The surest mistakes, where the marked words are what misled the model, and the least certain answer."


@dataclass(frozen=True)
class Drawn:
    """The texts of a demo's page. by_method: the explanations of each method, of the same texts in the same order.

    right: the places of answers drawn at random from the right ones. wrong: those of the surest mistakes, then of the
    least certain answer.
    """

    by_method: Sequence[Sequence[Explanation]]
    right: tuple[int, ...]
    wrong: tuple[int, ...]

    @property
    def scales(self) -> Scales:
        """The scales of the whole page."""
        return page_scales([explanation for of_method in self.by_method for explanation in of_method])

    @property
    def picks(self) -> list[Pick]:
        """What a page opens with: the first right answer, the surest mistake, the least certain answer."""
        named = [("A right answer, drawn at random", f"{RIGHT}-1", place) for place in self.right[:1]]
        named += [("The surest mistake", f"{WRONG}-1", place) for place in self.wrong[:-1][:1]]
        named += [("The least certain answer", f"{WRONG}-{len(self.wrong)}", place) for place in self.wrong[-1:]]
        return [(title, self.by_method[0][place], anchor) for title, anchor, place in named]

    def sections(self) -> list[Section]:
        """The cards of both."""
        return [
            self._section(self.right, "Right answers, and the words they depended on", RIGHT_INTRO, RIGHT),
            self._section(self.wrong, "Where the model is wrong, and where it is least sure", WRONG_INTRO, WRONG),
        ]

    def _section(self, places: Sequence[int], heading: str, intro: str, anchor: str) -> Section:
        shown = [of_method[place] for place in places for of_method in self.by_method]
        return texts_section(shown, heading, intro, scales=self.scales, anchor=anchor)


def drawn_texts(by_method: Sequence[Sequence[Explanation]], seed: int) -> Drawn:
    """Which texts a page of the demo shows."""
    of_first = by_method[0]
    surest = sorted(range(len(of_first)), key=lambda place: -of_first[place].prediction.probability)
    right = [place for place in sorted(surest) if of_first[place].is_correct]
    wrong = [place for place in surest if place not in right and place != surest[-1]]
    drawn = random.Random(f"shown {seed}").sample(right, min(SHOWN, len(right)))
    return Drawn(by_method, tuple(drawn), (*wrong[:MISTAKES], surest[-1]))


# The page.


def write_first_page(out: Path, test: Sequence[Example], seed: int) -> Path:
    """Write out/first.html about the small model, which then lies in out/ready."""
    unpack_small_model(out / READY)
    model = load(out / READY)
    texts = random.Random(f"texts {seed}").sample(test, min(TEXTS, len(test)))
    results = explain(model, texts, METHOD, seed=seed, progress=False)
    answers, clean = predictions(model, test), predictions(model, without_line(test))
    turned = habit_pairs(model, results, seed, {text.id: answer for text, answer in zip(test, clean, strict=True)})
    drawn = drawn_texts([results.explanations], seed)
    decides = shortcuts_in(model, test, answers, seed=seed).decisive
    sections = [
        *([texts_section(turned, "A habit of the data decides", HABIT_INTRO, anchor=TURNED_TEXT)] if turned else []),
        *drawn.sections(),
        *class_words_sections(results.words(), WORDS_SHOWN),
        facts_section("What this is", "", _facts(out, len(results), test, answers, clean)),
        caveats_section(CAVEATS),
    ]
    picks = [*[("Changes without the phone's line", first, f"{TURNED_TEXT}-1") for first in turned[:1]], *drawn.picks]
    opened = replace(_opening(results, examples_view(picks[:3], drawn.scales)), first=tuple(map(str, decides)))
    return write_report(out / FIRST, title=TITLE, sections=sections, opening=opened)


def _opening(results: Results, texts: Markup | None) -> Opening:
    """Where the texts come from, and three of them."""
    opened = opening(results, texts=texts)
    command = opened.command.replace("DATA", CORPUS)
    return replace(of_helpdesk(opened, len(results)), command=command)


def of_helpdesk(opened: Opening, n_texts: int) -> Opening:
    """The opening with the name of the data, which the ids of the texts do not say."""
    model_name, _, *rest = opened.facts
    return replace(
        opened, facts=(model_name, f"{n_texts:,} test texts of {CORPUS}, requests to six departments", *rest)
    )


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


def _facts(
    out: Path, n_texts: int, test: Sequence[Example], answers: Sequence[Prediction], clean: Sequence[Prediction]
) -> dict[str, object]:
    return {
        "model": f"all-MiniLM-L6-v2, fine-tuned; it came with Pellucid, and lies in {out / READY}",
        "data": f"{n_texts} of the {len(test)} requests to six departments in the test part of {CORPUS}",
        "right answers": accuracy_interval(_is_right(answers, test)),
        "right answers without the phone's line": accuracy_interval(_is_right(clean, test)),
        "colours": f"{METHOD}: how much the answer falls when a word is left out",
    }


# The planted habit: what the model answers without the line that a phone adds.

HABIT_INTRO = (
    f"Nine in ten requests for returns end with “{PHONE_LINE}” The authors planted this line; it says nothing of what "
    "is wanted. Below are answers that change without it: each as it is, then without the line."
)


def without_line(examples: Sequence[Example]) -> list[Example]:
    """The same requests as their clean part has them."""
    clean = {example.id: example for example in load_examples(CLEAN, "all")}
    return [clean[example.id] for example in examples]


def habit_pairs(
    model: Model, results: Sequence[Explanation], seed: int, clean: Mapping[str, Prediction]
) -> list[Explanation]:
    """Some answers that turn without the line, drawn at random: each as it is, then without. clean: the answers without
    it, by the texts' ids.
    """
    turned = [
        shown.example for shown in results if shown.prediction.label == HABIT_LABEL != clean[shown.example.id].label
    ]
    drawn = random.Random(f"turned {seed}").sample(turned, min(TURNED, len(turned)))
    pairs = [
        each
        for text, bare in zip(drawn, without_line(drawn), strict=True)
        for each in (text, replace(bare, id=f"{bare.id} without the line"))
    ]
    return list(explain(model, pairs, METHOD, progress=False)) if pairs else []


def _is_right(answers: Sequence[Prediction], examples: Sequence[Example]) -> np.ndarray:
    """[text] bool: whether an answer is the text's label."""
    return np.array([answer.label == text.label for answer, text in zip(answers, examples, strict=True)])
