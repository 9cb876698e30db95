"""The models of T4 and the spans that its rows cut; both lie in the work folder and are made once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pellucid.base.processes import Share, no_report, silent
from pellucid.data.exports.json_lines import write_json_lines
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
from pellucid.evidence.extract import extract_from, selection_for
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.extraction import Extraction, extraction_in
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from studies.s0_transfers.rows import MODES, ROWS, full_texts, own_recipe
from studies.shared.self_explaining_models import ModelTraining, train_kind
from studies.shared.study import Settings


def trained(
    settings: Settings,
    kind: str,
    seed: int,
    *,
    parts: Mapping[str, Sequence[Example]] | None = None,
    cut_by: str = "full",
    share: Share = no_report,
) -> Classifier:
    """A model of a kind, trained on full texts or on `parts`. A finished one is loaded.

    kind: see `self_explaining_models`. cut_by: the row that the parts are spans of; "full" for full texts.
    """
    size = settings.size
    labels = tuple(sorted({one.label for one in full_texts(settings)["train"] if one.label is not None}))
    of_size = Recipe(epochs=size.epochs, batch_size=size.batch_size, learning_rate=size.learning_rate, seed=seed)
    recipe = replace(of_size, **own_recipe(settings))
    concentration = settings.own["concentration"]
    training = ModelTraining(settings.encoder, labels, recipe, concentration, settings.device)
    folder = settings.work / "models" / f"{kind}-{cut_by}-{seed}"
    return train_kind(kind, training, parts or full_texts(settings), folder, share)


def cut(settings: Settings, name: str, seed: int) -> dict[str, list[Extraction]]:
    """Part -> the spans by one row's extractor. Finished ones are read."""
    if not all(path.exists() for path in _files(settings, name, seed).values()):
        _cut_together(settings, name, seed)
    files = _files(settings, name, seed)
    return {part: [extraction_in(one) for one in load_examples(path)] for part, path in files.items()}


def _files(settings: Settings, name: str, seed: int) -> dict[str, Path]:
    return {part: settings.work / "spans" / f"{name}-{seed}" / f"{part}.jsonl.gz" for part in PARTS}


def _cut_together(settings: Settings, name: str, seed: int) -> None:
    """Write the spans of a row, and of all rows of this seed that differ only in the selection."""
    rows = ROWS | MODES if seed == 0 else ROWS
    row = rows[name]
    same = (row.extractor, row.model, row.settings)
    names = [other for other, one in rows.items() if (one.extractor, one.model, one.settings) == same]
    model = trained(settings, row.model, seed)
    lengths = cut(settings, "span_attention", seed) if row.extractor != "span_attention" else {}
    for part in PARTS:
        selections = [
            selection_for(row.extractor, one.selection, one.budget, 1, lengths[part] if one.like else None)
            for one in map(rows.__getitem__, names)
        ]
        texts = full_texts(settings)[part]
        by_selection = extract_from(model, texts, row.extractor, selections, row.settings, seed=seed, progress=silent)
        for other, extractions in zip(names, by_selection, strict=True):
            write_json_lines([one.as_example() for one in extractions], _files(settings, other, seed)[part])
