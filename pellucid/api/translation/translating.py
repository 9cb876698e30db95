"""The door `translate`: translations, and of a translator that explains itself the spans that each word was written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.api.continuing_texts import check_search, write
from pellucid.api.explaining import explain
from pellucid.api.inputs.models import translator_from
from pellucid.api.inputs.readings import Data, ModelSource
from pellucid.results.explanation import Explanation
from pellucid.text.example import Example


@dataclass(frozen=True)
class Translation:
    """A text and its translation.

    source, text: what was read and what was written. is_cut: whether it ended because it had no more room, and not by the
    model's own end token. explanation: by `span_attention`, a row for each word, of a translator that explains itself; else None.

    >>> print(pellucid.Translation("A good film.", "Ein guter Film.", is_cut=False))
    Ein guter Film.
    """

    source: str
    text: str
    is_cut: bool
    explanation: Explanation | None = None

    def __str__(self) -> str:
        return self.text


def translate(
    model: ModelSource,
    texts: Data,
    *,
    beam: int = 5,
    max_pieces: int = 128,
    text: str | Sequence[str] | None = None,
    progress: bool | None = None,
) -> list[Translation]:
    """Translate texts, and say of each written word which spans of the source it was written from, if the model knows.

    model: a translator from `load` or `train_translator`; or its folder or hub name.
    texts: a string, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    beam: how many beginnings the search follows at once, 1 to 64; 1 takes the likeliest piece each time.
    max_pieces: the most pieces of a translation, 1 to 4,096.
    text: the column of a table, where it has an unusual name.
    progress: draw a progress bar; None: when a terminal is watching.

    Each text is translated alone, so neighbours and order change nothing. Returns the translations in order. Raises
    `ModelCannot` for a classifier and for a model without an encoder, `BadInput` for a pair.

    >>> pellucid.translate("my-translator", "A good film.", max_pieces=5)[0].source
    'A good film.'
    """
    check_search(beam, max_pieces)
    translator = translator_from(model)
    written = write(translator, texts, beam=beam, max_pieces=max_pieces, text=text, progress=progress)
    explanations: Sequence[Explanation | None] = [None] * len(written)
    if "span_weights" in translator.capabilities and written:
        pairs = [Example((one.source, one.text)) for one in written if one.text]
        of_pairs = iter(explain(translator, pairs, "span_attention", progress=progress) if pairs else ())
        explanations = [next(of_pairs) if one.text else None for one in written]
    return [
        Translation(one.source, one.text, one.is_cut, explanation)
        for one, explanation in zip(written, explanations, strict=True)
    ]
