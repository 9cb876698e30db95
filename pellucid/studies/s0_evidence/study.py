"""T5 and T6: which spans do methods take for evidence, side by side, and what does it look like where a model errs?

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 6.1, tables 5 and 6, which are told by example;
here what can be counted is counted on the test texts, and the examples shown are sentences of our own.

    python -m pellucid.studies.s0_evidence --data FOLDER --work runs/s0_transfers --out studies/s0_evidence

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz); --data pocket takes our own sentences. The models are those of
`s0_transfers` with seed 0: what lies in --work is loaded, what is missing is trained. Pages that show the texts of FOLDER
stay in --work. `--size tiny` takes seconds; small some minutes on one core once the models are there.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pellucid import api
from pellucid.core.foundation.files import write_text
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.results.error_analysis import ErrorAnalysis
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.extraction import Extraction
from pellucid.core.text.example import Example
from pellucid.core.text.units import Spans, Units
from pellucid.datasets.load import load_examples
from pellucid.evaluation.errors.cue_words import cue_words
from pellucid.evaluation.errors.error_grouping import grouped
from pellucid.extraction.extract import extract_from, selection_for
from pellucid.models.classifiers.classifier import Classifier
from pellucid.reports.terminal.progress_bar import progress_bar
from pellucid.studies.s0_evidence.page import as_page
from pellucid.studies.s0_evidence.picture import as_picture
from pellucid.studies.s0_evidence.span_words import SPAN, spans_in_numbers
from pellucid.studies.s0_transfers.study import SIZES, Settings, trained
from pellucid.studies.shared.self_explaining_models import CONCENTRATION, CONCENTRATION_HELP
from pellucid.studies.shared.units import claim
from pellucid.studies.sst2_methods.study import chosen

Numbers = dict[str, Any]
SEED = 0
# extractor -> the model that it reads and its settings; none of them sees the label of the text that it cuts
EXTRACTORS: dict[str, tuple[str, dict[str, Any]]] = {
    SPAN: ("span", {}),
    "average_gradient": ("plain", {"target": "predicted"}),
    "average_attention": ("plain", {}),
    "rationale": ("rationale", {}),
}
RANDOM = "random_span_of_length"
KINDS = {"contrast": 2, "negation": 2, "irony": 1, "plain": 1}  # of pocket's test texts: how many are shown
MOST = 110  # characters of a text that is shown
SHOWN_OF_DATA = 12  # texts of the user's data in the picture that stays in --work


@dataclass(frozen=True)
class Evidence:
    """What some texts' spans are by each extractor; own: by its own selection, alike: as long as span attention's."""

    texts: Sequence[Example]
    said: Mapping[str, Sequence[str]]
    own: Mapping[str, Sequence[Extraction]]
    alike: Mapping[str, Sequence[Extraction]]


@dataclass(frozen=True)
class Models:
    """The three models of one seed, trained unless they are there."""

    settings: Settings

    @cached_property
    def by_kind(self) -> dict[str, Classifier]:
        """Plain, span and rationale."""
        return {kind: trained(self.settings, kind, SEED) for kind in ("plain", "span", "rationale")}

    def evidence(self, texts: Sequence[Example]) -> Evidence:
        """The spans of all extractors."""
        own: dict[str, Sequence[Extraction]] = {}
        alike: dict[str, Sequence[Extraction]] = {}
        for name, (kind, given) in EXTRACTORS.items():
            like = own.get(SPAN)
            found = _cut(self.by_kind[kind], texts, name, given, [None, like] if like else [None])
            own[name], alike[name] = found[0], found[-1]
        (alike[RANDOM],) = _cut(self.by_kind["plain"], texts, RANDOM, {}, [own[SPAN]])
        said = {kind: _answers(model, texts) for kind, model in self.by_kind.items()}
        return Evidence(texts, said, own, alike)

    def errors(self, found: Evidence) -> dict[str, ErrorAnalysis]:
        """What the evidence of wrong answers looks like: the span model's top span, and the plain model's by gradient."""
        train = self.settings.parts["train"]
        plain = api.explain(
            self.by_kind["plain"], found.texts, "gradient", norm="l1", output="probability", progress=False
        )
        cut = found.alike["average_gradient"]
        by_gradient = [of_one_span(one, span) for one, span in zip(plain, cut, strict=True)]
        return {
            "span": api.error_analysis(self.by_kind["span"], found.texts, train=train, progress=False),
            "plain": grouped(by_gradient, cue_words(train)),
        }


def _cut(
    model: Classifier,
    texts: Sequence[Example],
    name: str,
    given: Mapping[str, Any],
    likes: Sequence[Sequence[Extraction] | None],
) -> list[list[Extraction]]:
    """An extractor's spans by its own selection (None) and as long as others; its scores are made once."""
    selections = [selection_for(name, None, None, 1, like) for like in likes]
    with progress_bar(True) as told:
        return extract_from(model, texts, name, selections, given, SEED, told)


def _answers(model: Classifier, texts: Sequence[Example]) -> list[str]:
    logits = evaluate_rows(model, scheduler_for(model), model.encode(texts).rows)
    return [model.labels[number] for number in logits.argmax(-1).tolist()]


def of_one_span(explanation: Explanation, cut: Extraction) -> Explanation:
    """The extracted span in place of an explanation's scores, so that it can be grouped as a heaviest span is."""
    span = cut.spans[0]
    part = Units("span", (span.text,), (span.segment,), (span.start,), (span.end,))
    spans = Spans(part, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    return replace(explanation, units=spans, scores=np.array([span.score]), method=cut.extractor)


def own_texts() -> list[Example]:
    """Test sentences of pocket that show what tables 5 and 6 are about; of each kind those with the smallest digests."""
    texts = [
        one for one in load_examples("pocket", "test") if one.rationales and len(one.segments[0]) <= MOST
    ]
    taken: list[Example] = []
    for kind, count in KINDS.items():
        of_kind = [one for one in texts if kind in one.meta["phenomena"] and one not in taken]
        taken += chosen(of_kind, count)
    return taken


def run(settings: Settings) -> Numbers:
    """The numbers of both tables; pages that show texts of the data are written to the work folder."""
    claim(settings.work, settings.about)
    models = Models(settings)
    test = models.evidence(settings.parts["test"])
    errors = models.errors(test)
    _write_pages(settings.work / "evidence", test, errors)
    return {
        "about": {**settings.about, "seed": SEED},
        "texts": len(test.texts),
        "heaviest": " ".join((errors["span"].heaviest.in_words(), *errors["span"].heaviest.cautions())),
        "table 5": spans_in_numbers(test.texts, test.own, test.alike),
        "table 6": {kind: _counts(found) for kind, found in errors.items()},
        "sentences": _sentences(models.evidence(own_texts())),
    }


def _counts(found: ErrorAnalysis) -> Numbers:
    """An analysis without its texts and cue words."""
    cues = {label: len(words) for label, words in found.cues.items()}
    return {
        "wrong": found.wrong,
        "right": found.right,
        "patterns": list(map(asdict, found.patterns)),
        "cues": cues,
    }


def _sentences(found: Evidence) -> list[Numbers]:
    """Each text with what the models say and the characters [start, end) of every extractor's spans."""
    return [
        {
            "id": text.id,
            "kinds": text.meta.get("phenomena", []),
            "label": text.label,
            "text": text.segments[0],
            "marked": [[mark.start, mark.end] for mark in text.rationales],
            "said": {kind: answers[number] for kind, answers in found.said.items()},
            "spans": {
                name: [[span.start, span.end] for span in cut[number].spans if span.segment == 0]
                for name, cut in found.own.items()
            },
        }
        for number, text in enumerate(found.texts)
    ]


def _write_pages(folder: Path, test: Evidence, errors: Mapping[str, ErrorAnalysis]) -> None:
    """The misclassified texts by pattern, and spans side by side on texts that all models get right, as in table 5."""
    for kind, found in errors.items():
        title = f"What errors of the {kind} model look like"
        api.report(found, path=folder / f"errors-{kind}.html", title=title)
    right = [
        text
        for number, text in enumerate(test.texts)
        if all(answers[number] == text.label for answers in test.said.values())
    ]
    wanted = {id(text) for text in chosen(right, SHOWN_OF_DATA)}
    shown = [one for text, one in zip(test.texts, _sentences(test), strict=True) if id(text) in wanted]
    write_text(folder / "spans.svg", as_picture(shown))


def main() -> None:
    """Find the evidence, then write numbers, page and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with train, dev and test JSON lines; or pocket")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder of the models, as s0_transfers keeps them"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the numbers, the page and the picture"
    )
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument(
        "--concentration",
        type=float,
        default=CONCENTRATION,
        help=CONCENTRATION_HELP,
    )
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    settings = Settings(
        SIZES[given.size],
        given.data,
        given.work,
        given.out,
        given.encoder,
        given.concentration,
        given.device,
    )
    numbers = run(settings)
    write_text(given.out / "result.json", json.dumps(numbers, indent=1))
    write_text(given.out / "spans.svg", as_picture(numbers["sentences"]))
    write_text(given.out / "README.md", as_page(numbers, given.size))
    print(as_page(numbers, given.size))


if __name__ == "__main__":
    main()
