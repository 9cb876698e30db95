"""T5 and T6: which spans do methods take for evidence, side by side, and what does it look like where a model errs?

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 6.1, tables 5 and 6. The paper shows
examples; here what can be counted is counted on the test texts, and the examples shown are sentences of our own.

    python -m studies s0_evidence --data FOLDER --work runs/s0_transfers --out studies/s0_evidence

FOLDER holds train.jsonl, dev.jsonl and test.jsonl (or .gz); --data pocket takes our own sentences. The models are those
of `s0_transfers` with seed 0: finished ones in --work are loaded, missing ones are trained. Pages that show the texts
of FOLDER stay in --work. `--size tiny` takes seconds; small takes some minutes on one core once the models are trained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import pellucid
from pellucid.base.files import write_text
from pellucid.base.processes import Progress
from pellucid.data.load import load_examples
from pellucid.errors.door import grouped
from pellucid.errors.record import ErrorAnalysis, cue_words, cues_of
from pellucid.evidence.extract import extract_from, selection_for
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Explanation
from pellucid.results.extraction import Extraction
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.text.example import Example
from pellucid.text.units import Spans, Units
from studies.s0_evidence.page import as_page, withdrawn
from studies.s0_evidence.picture import as_picture
from studies.s0_evidence.span_words import SPAN, spans_in_numbers
from studies.s0_transfers.rows import SIZES, about, full_texts
from studies.s0_transfers.spans import trained
from studies.shared.options import DATA, DEVICE, ENCODER, WORK
from studies.shared.self_explaining_models import CONCENTRATION_OPTION
from studies.shared.study import Settings, Study, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, reserve_folder

Models = Mapping[str, Classifier]  # kind -> the model of the seed
SEED = 0
# extractor -> the model that it reads and its settings; none of them sees the label of the text
EXTRACTORS: dict[str, tuple[str, dict[str, object]]] = {
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
class TextsWithSpans:
    """Texts with the spans of each extractor.

    answers: kind of model -> its labels. own: extractor -> spans by its own selection. alike: spans as long as span
    attention's.
    """

    texts: Sequence[Example]
    answers: Mapping[str, Sequence[str]]
    own: Mapping[str, Sequence[Extraction]]
    alike: Mapping[str, Sequence[Extraction]]


@studies.add()
def s0_evidence() -> Study:
    """Which spans do methods take for evidence, and what do errors look like? Tables 5 and 6 of Sun et al. (2020)."""
    work = WORK.changed(help="folder of the models, as s0_transfers keeps them")
    return Study(
        sizes=SIZES,
        options=(DATA, work, ENCODER, CONCENTRATION_OPTION, DEVICE),
        work=measure,
        summary=lambda settings, numbers: dict(numbers),
        page=lambda settings, numbers: as_page(numbers),
        pictures={
            "spans.svg": lambda settings, numbers: as_picture([] if withdrawn(numbers) else numbers["sentences"])
        },
    )


def measure(settings: Settings, progress: Progress) -> Numbers:
    """The numbers of both tables. Pages that show texts of the data are written to the work folder."""
    reserve_folder(settings.work, about(settings))
    models = {kind: trained(settings, kind, SEED) for kind in ("plain", "span", "rationale")}
    test = extract_evidence(models, full_texts(settings)["test"], progress)
    errors = analyse_errors(models, test, full_texts(settings)["train"])
    _write_pages(settings.work / "evidence", test, errors)
    return {
        "about": {**about(settings), "seed": SEED},
        "texts": len(test.texts),
        "heaviest": " ".join((errors["span"].heaviest.in_words(), *errors["span"].heaviest.cautions())),
        "collapsed": errors["span"].heaviest.collapsed,
        "table 5": spans_in_numbers(test.texts, test.own, test.alike),
        "table 6": {kind: _counts(analysis) for kind, analysis in errors.items()},
        "sentences": _sentences(extract_evidence(models, own_texts(), progress)),
    }


def extract_evidence(models: Models, texts: Sequence[Example], progress: Progress) -> TextsWithSpans:
    """The spans of all extractors."""
    own: dict[str, Sequence[Extraction]] = {}
    alike: dict[str, Sequence[Extraction]] = {}

    def cut(
        name: str, kind: str, likes: Sequence[Sequence[Extraction] | None], **settings: object
    ) -> list[list[Extraction]]:
        """Spans by the own selection (None) and as long as others; the scores are computed once."""
        selections = [selection_for(name, None, None, 1, like) for like in likes]
        return extract_from(models[kind], texts, name, selections, settings, seed=SEED, progress=progress)

    for name, (kind, settings) in EXTRACTORS.items():
        like = own.get(SPAN)
        extractions = cut(name, kind, [None, like] if like else [None], **settings)
        own[name], alike[name] = extractions[0], extractions[-1]
    (alike[RANDOM],) = cut(RANDOM, "plain", [own[SPAN]])
    return TextsWithSpans(texts, {kind: _answers(model, texts) for kind, model in models.items()}, own, alike)


def analyse_errors(models: Models, evidence: TextsWithSpans, train: Sequence[Example]) -> dict[str, ErrorAnalysis]:
    """The evidence of wrong answers: of the span model its top span, of the plain model the one by gradient.

    train: the texts that cue words are learnt from.
    """
    plain = pellucid.explain(
        models["plain"], evidence.texts, "gradient", norm="l1", output="probability", progress=False
    )
    extractions = evidence.alike["average_gradient"]
    by_gradient = [of_one_span(one, cut) for one, cut in zip(plain, extractions, strict=True)]
    return {
        "span": pellucid.error_analysis(models["span"], evidence.texts, train=train, progress=False),
        "plain": grouped(by_gradient, cues_of(cue_words(train))),
    }


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
    """Test sentences of pocket that show what tables 5 and 6 are about; of each kind those with the smallest
    digests.
    """
    texts = [one for one in load_examples("pocket", "test") if one.rationales and len(one.segments[0]) <= MOST]
    shown: list[Example] = []
    for kind, count in KINDS.items():
        of_kind = [one for one in texts if kind in one.meta["phenomena"] and one not in shown]
        shown += with_smallest_digests(of_kind, count)
    return shown


def _counts(analysis: ErrorAnalysis) -> Numbers:
    """An analysis without its texts and cue words."""
    cues = {label: len(words) for label, words in analysis.cues.items()}
    return {
        "wrong": analysis.wrong,
        "right": analysis.right,
        "patterns": list(map(asdict, analysis.patterns)),
        "cues": cues,
    }


def _sentences(evidence: TextsWithSpans) -> list[Numbers]:
    """Each text with the models' answers and the characters [start, end) of every extractor's spans."""
    return [
        {
            "id": text.id,
            "kinds": text.meta.get("phenomena", []),
            "label": text.label,
            "text": text.segments[0],
            "marked": [[mark.start, mark.end] for mark in text.rationales],
            "said": {kind: answers[number] for kind, answers in evidence.answers.items()},
            "spans": {
                name: [[span.start, span.end] for span in cut[number].spans if span.segment == 0]
                for name, cut in evidence.own.items()
            },
        }
        for number, text in enumerate(evidence.texts)
    ]


def _write_pages(folder: Path, test: TextsWithSpans, errors: Mapping[str, ErrorAnalysis]) -> None:
    """The misclassified texts by pattern, and spans side by side on texts that all models get right, as in table 5."""
    for kind, analysis in errors.items():
        title = f"What errors of the {kind} model look like"
        pellucid.report(analysis, path=folder / f"errors-{kind}.html", title=title)
    right = [
        text
        for number, text in enumerate(test.texts)
        if all(answers[number] == text.label for answers in test.answers.values())
    ]
    wanted = {id(text) for text in with_smallest_digests(right, SHOWN_OF_DATA)}
    shown = [one for text, one in zip(test.texts, _sentences(test), strict=True) if id(text) in wanted]
    write_text(folder / "spans.svg", as_picture(shown))
