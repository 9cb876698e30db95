"""Spans that were extracted before, in place of those that an attack would find itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.api.attacks.attack_cases import span_places
from pellucid.attacks.shared.attack_case import Place
from pellucid.core.foundation.call_syntax import in_syntax
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.wording import quoted, shortened
from pellucid.core.results.extraction import Extraction, extraction_in
from pellucid.core.text.example import Example
from pellucid.datasets.load import load_examples

StoredSpans = Mapping[tuple[str, ...], tuple[Place, ...]]


def stored_spans(
    source: Sequence[Extraction] | str | Path | None, unit: str, name: str, examples: Sequence[Example]
) -> StoredSpans | None:
    """Texts -> their spans, the heaviest first; None without a source.

    source: extractions, or the file that they were written to. unit: what the attack edits. Raises `BadSetting` for an attack on words,
    `BadInput` for a text without an extraction.
    """
    if source is None:
        return None
    if unit != "span":
        raise BadSetting(
            f"{name} edits words, so {in_syntax('spans_from=', '--spans-from')} changes nothing; leave it out."
        )
    extractions = _read(source) if isinstance(source, str | Path) else source
    by_text = {one.example.segments: span_places(one) for one in extractions}
    for example in examples:
        if example.segments not in by_text:
            raise BadInput(
                f"{in_syntax('spans_from=', '--spans-from')} has no spans of the text {quoted(shortened(example.text))}; "
                "extract them from the texts that are attacked."
            )
    return by_text


def _read(path: str | Path) -> list[Extraction]:
    return [extraction_in(one) for one in load_examples(path)]
