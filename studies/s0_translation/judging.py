"""A trained translator on test pairs: its translations with what BLEU counts in each, and how much its spans carry."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import pellucid
from pellucid.text.example import Example
from pellucid.writing.bleu import sentence_statistics, translation_scores
from studies.shared.units import Numbers

SHOWN = 10  # translations that the numbers contain
EVERY = "all"  # which pieces of a word its lead is counted over; files of earlier versions have its first one
LITTLE = 0.25


def translated(folder: Path, device: str, pairs: Sequence[Example], beam: int) -> Numbers:
    """BLEU and chrF with their signature, the counts of each sentence, and the first translations."""
    sources = [Example((pair.segments[0],), id=pair.id) for pair in pairs]
    translator = pellucid.load(str(folder), device=device)
    written = pellucid.write(translator, sources, beam=beam, progress=False)
    texts, references = [one.text for one in written], [pair.segments[1] for pair in pairs]
    scores = translation_scores(texts, references, resamples=100)
    return {
        "bleu": scores.bleu.mean,
        "chrf": scores.chrf,
        "signature": scores.signature,
        "length": scores.length,
        "cut": sum(one.is_cut for one in written),
        "statistics": sentence_statistics(texts, references).astype(int).tolist(),
        "first": [[one.source, one.text] for one in written[:SHOWN]],
    }


def carried_numbers(folder: Path, device: str, pairs: Sequence[Example]) -> Numbers | None:
    """Over the words of the references: how many spans share the weight, and what went through them; None of a plain
    model.
    """
    model = pellucid.load(str(folder), device=device)
    if "span_weights" not in model.capabilities:
        return None
    explanations = pellucid.explain(model, [Example(pair.segments) for pair in pairs], "span_attention", progress=False)
    facts = [row for one in explanations for row in one.row_diagnostics]
    spans = [one["effective_spans"] for one in facts if "effective_spans" in one]
    carried = np.array([one["carried"] for one in facts if "carried" in one])
    return {
        "pieces": EVERY,
        "words": len(facts),
        "leading": len(carried),
        "effective_spans": float(np.median(spans)) if spans else None,
        "carried": float(np.median(carried)) if len(carried) else None,
        "little": float((carried < LITTLE).mean()) if len(carried) else None,
    }
