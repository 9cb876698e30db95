"""The door `bleu`: how near a translator comes to references, or nearer than another one."""

from collections.abc import Sequence
from dataclasses import replace

from pellucid.api.inputs import examples_from
from pellucid.api.inputs.data import Data, ModelSource
from pellucid.api.inputs.translators import translator_from
from pellucid.api.writing.continuing_texts import check_search, write
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.optional_package import optional_package
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import seen_caveats
from pellucid.evaluation.translations.bleu import TranslationScores, check_scoring, translation_scores


def bleu(
    model: ModelSource | Sequence[str],
    pairs: Data,
    *,
    baseline: ModelSource | Sequence[str] | None = None,
    beam: int = 5,
    max_pieces: int = 128,
    tokenize: str = "13a",
    resamples: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> TranslationScores:
    """BLEU and chrF of a translator on pairs of texts, with their signature and intervals.

    model: a translator from `load` or `train_translator`, its folder or hub name; or a list of translations, one for each pair.
    pairs: sources with their references, as `train_translator` takes them in memory; or a `pathlib.Path`.
    baseline: another translator, or its translations: then also by how much the model is better, with its 95 % interval over the
        same draws of sentences. A verdict over trainings needs several seeds of both.
    beam, max_pieces: as in `translate`.
    tokenize: how words are cut to be compared: "13a", sacrebleu's usual, "intl", "char", or "none" for texts that are cut already.
    resamples: draws of sentences, 100 or more.
    seed: of the draws.
    progress: draw a progress bar; None: when a terminal is watching.

    Where pairs were in the train or dev part of a translator that Pellucid trained, the scores have a caveat. Raises `MissingPackage` without sacrebleu (`pip install 'pellucid[translation]'`), `BadInput` for one text in place of a pair, or
    for a list of another length, `ModelCannot` for a model that does not translate.

    >>> scores = pellucid.bleu(["the cat sat on a mat"], [("die Katze saß auf einer Matte", "the cat sat on the mat")])
    >>> round(scores.bleu.mean, 1), scores.sentences
    (53.7, 1)
    """
    optional_package("sacrebleu")  # before any work, as are the settings
    check_search(beam, max_pieces)
    check_scoring(tokenize, resamples)
    examples = examples_from(pairs)
    for example in examples:
        if len(example.segments) != 2:
            raise BadInput(
                f"Example {quoted(example.id)} has one text; give pairs: a source and its reference."
            )
    own, other = (
        None if one is None or _is_texts(one) else translator_from(one) for one in (model, baseline)
    )
    texts = _translations(own or model, examples, beam, max_pieces, progress)
    others = (
        None if baseline is None else _translations(other or baseline, examples, beam, max_pieces, progress)
    )
    references = [example.segments[1] for example in examples]
    scores = translation_scores(
        texts, references, baseline=others, tokenize=tokenize, resamples=resamples, seed=seed
    )
    seen = dict.fromkeys(caveat for one in (own, other) for caveat in seen_caveats(one, examples))
    return replace(scores, caveats=tuple(seen))


def _is_texts(model: ModelSource | Sequence[str]) -> bool:
    return isinstance(model, list | tuple)


def _translations(
    model: ModelSource | Sequence[str],
    examples: Sequence[Example],
    beam: int,
    max_pieces: int,
    progress: bool | None,
) -> list[str]:
    if isinstance(model, list | tuple):
        return [str(text) for text in model]
    translator = translator_from(model)
    sources = [Example((example.segments[0],), id=example.id) for example in examples]
    return [
        one.text for one in write(translator, sources, beam=beam, max_pieces=max_pieces, progress=progress)
    ]
