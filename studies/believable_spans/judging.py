"""One model of the study: trained, looked at on dev, and judged on texts that nothing was chosen by."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pellucid
from pellucid.base.processes import Share, no_report
from pellucid.evidence.transfers import right_answers, span_parts
from pellucid.explaining.planting import label_leak
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.networks import Plan
from pellucid.results.explanation import Explanation
from pellucid.text.example import Example, marked
from pellucid.text.units import Spans
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.believable_spans.corpora import CORPORA, is_planted, labels_of, parts_of
from studies.believable_spans.evidence import N_SPANS, evidence_numbers
from studies.believable_spans.models import MODELS, TWO_SHORT
from studies.believable_spans.other_methods import explained, marks_numbers, method_numbers
from studies.s0_eraser.cuts import marked_tokens
from studies.shared.study import Settings
from studies.shared.units import Numbers

SPANS = "span_attention"
READ_PARTS = ("train", "dev", "unread", "test")
READ = 0.2  # the share of a text's words that is left by a cut, as in FRESH


def read_parts(settings: Settings, name: str, seed: int) -> Mapping[str, Sequence[Example]]:
    """train, dev, unread and test as a model reads them: as they are, or cut by the plain model of the same seed."""
    parts, extractor = (
        parts_of(settings.own["on"], settings.data, settings.size_name),
        MODELS[name].cut_by,
    )
    if not extractor:
        return parts
    plain = trained(settings, "plain", seed, parts)
    cut = {
        split: pellucid.extract(
            plain, list(parts[split]), extractor, selection="best_words", budget=READ, progress=False
        )
        for split in READ_PARTS
    }
    return span_parts({split: parts[split] for split in cut}, cut)


def trained(
    settings: Settings,
    name: str,
    seed: int,
    parts: Mapping[str, Sequence[Example]],
    share: Share = no_report,
) -> Classifier:
    """A model of the corpus; a finished one is loaded, an interrupted training goes on. parts: from `read_parts`."""
    on, size, model = settings.own["on"], settings.size, MODELS[name]
    corpus = CORPORA[on]
    recipe = Recipe(
        epochs=size.epochs or corpus.epochs,
        learning_rate=corpus.rate,
        batch_size=16 if is_planted(on) else 32,
        seed=seed,
    )
    if is_planted(on):
        recipe = replace(recipe, new_parts_factor=2.0)  # as in planted_truth
    return train_model(
        {split: parts[split] for split in ("train", "dev")},
        Plan(
            settings.encoder,
            model.pooler,
            model.pooler_settings,
            labels_of(on, settings.data, settings.size_name),
            layer_form=model.layer_form,
        ),
        replace(recipe, **model.recipe),
        model_folder(settings, name, seed),
        settings.device,
        progress=lambda _, done, total: share(0.9 * done / total),
    )


def model_folder(settings: Settings, name: str, seed: int) -> Path:
    """Where a model lies."""
    return settings.work / "models" / f"{settings.own['on']}-{name}-{seed}"


def training_numbers(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    """right: "1" or "0" for each test text; unread_right: for each unread text; dev: what the spans of dev texts do;
    seconds: of the training, None of one that was interrupted.
    """
    began, folder = time.perf_counter(), model_folder(settings, name, seed)
    was_begun = folder.exists()
    parts = read_parts(settings, name, seed)
    model = trained(settings, name, seed, parts, share)
    seconds = None if was_begun else round(time.perf_counter() - began, 1)
    looked_at = parts["dev"][: settings.size.judged]
    return {
        "model": name,
        "seed": seed,
        "right": _digits(right_answers(model, parts["test"])),
        "unread_right": _digits(right_answers(model, parts["unread"])),
        "dev": evidence_numbers(model, looked_at, spans_of(model, looked_at)) if MODELS[name].has_spans else None,
        "seconds": seconds,
    }


def judged_numbers(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    """What the spans of the judged texts do, their agreement with marks, and of the first texts the same of other
    methods.
    """
    began, on = time.perf_counter(), settings.own["on"]
    parts = parts_of(on, settings.data, settings.size_name)
    model, texts = trained(settings, name, seed, parts), parts["judged"]
    numbers: Numbers = {"model": name, "seed": seed, "ids": [one.id for one in texts]}
    own = own_explanations(model, name, texts)
    if own and CORPORA[on].marks:
        numbers["marks"] = {
            MODELS[name].title: marks_numbers(texts, own, str(MODELS[name].method), marked_tokens(texts))
        }
    share(0.2)
    if MODELS[name].has_spans:
        numbers["spans"] = evidence_numbers(model, texts, own)
        numbers["leak"] = _leak(model, *(parts[part][: settings.size.leaked] for part in ("train", "test")))
        if is_planted(on):
            reasons = [reason_words(one) for one in own]
            numbers["reason"] = covered_reasons(reasons, numbers["spans"]["words"])
            numbers["fits"] = [fits_spans(one) for one in reasons]
    share(0.3)
    return numbers | _of_other_methods(settings, model, name, texts, numbers) | _seconds(began)


def spans_of(model: Classifier, texts: Sequence[Example]) -> list[Explanation]:
    """The span weights of the texts."""
    return list(pellucid.explain(model, list(texts), SPANS, progress=False, random_spans=0))


def own_explanations(model: Classifier, name: str, texts: Sequence[Example]) -> list[Explanation]:
    """How a model explains itself; nothing of a plain one."""
    if MODELS[name].has_spans:
        return spans_of(model, texts)
    method = MODELS[name].method
    return [] if method is None else list(pellucid.explain(model, list(texts), method, progress=False))


def reason_words(explanation: Explanation) -> list[int]:
    """The numbers of the planted reason's words, in order."""
    assert isinstance(explanation.units, Spans)
    marks = marked(explanation.units.parts, explanation.example.rationales)
    return [] if marks is None else [word for word, is_marked in enumerate(marks) if is_marked]


def covered_reasons(reasons: Sequence[Sequence[int]], words: Sequence[Sequence[int]]) -> list[float | None]:
    """Of each text the share of its planted reason's words that lie in the chosen ones; None of a text without a
    reason.
    """
    return [
        len({*reason} & {*of_text}) / len(reason) if reason else None
        for reason, of_text in zip(reasons, words, strict=True)
    ]


def fits_spans(reason: Sequence[int]) -> bool:
    """Whether so few and short spans as the recipe's can have all words of a reason, wherever they stand."""
    n_spans, covered = 0, -1
    for word in reason:
        if word > covered:
            n_spans, covered = n_spans + 1, word + TWO_SHORT["max_width"] - 1
    return n_spans <= TWO_SHORT["n_heaviest"]


def _of_other_methods(
    settings: Settings, model: Classifier, name: str, texts: Sequence[Example], numbers: Numbers
) -> Numbers:
    """methods: what the best words of post-hoc methods do, as many as the spans have; and their agreement with
    marks.
    """
    corpus = CORPORA[settings.own["on"]]
    count = min(corpus.compared, settings.size.compared)
    if not count or not (MODELS[name].has_spans or (name == "plain" and corpus.marks)):
        return {}
    first = list(texts[:count])
    by_method = explained(model, first, few=settings.size_name == "tiny")
    others: Numbers = {}
    if corpus.marks:
        others["method_marks"] = {
            method: marks_numbers(first, explanations, method, marked_tokens(texts))
            for method, explanations in by_method.items()
        }
    if MODELS[name].has_spans:
        others["methods"] = method_numbers(model, first, by_method, numbers["spans"]["words"][:count])
    return others


def _leak(model: Classifier, train: Sequence[Example], test: Sequence[Example]) -> Numbers:
    """How much better than the commonest label the label is guessed from number, places and lengths of the spans
    alone.
    """
    cuts = (pellucid.extract(model, list(texts), SPANS, n_spans=N_SPANS, progress=False) for texts in (train, test))
    return asdict(label_leak(*cuts))


def _digits(right: Sequence[bool]) -> str:
    return "".join(str(int(one)) for one in right)


def _seconds(began: float) -> Numbers:
    return {"seconds": round(time.perf_counter() - began, 1)}
