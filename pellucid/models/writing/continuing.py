"""What a model writes after a text: by the library's own search, one text at a time, so that neighbours change nothing."""

from dataclasses import dataclass
from typing import Any

import torch

from pellucid.core.foundation.errors import BadInput, ModelCannot
from pellucid.core.foundation.wording import quoted, reason
from pellucid.core.text.example import Example
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.families.probes import most_pieces
from pellucid.models.writing.encoder_decoder import EncoderDecoder
from pellucid.models.writing.generation_settings import PLAIN, end_ids
from pellucid.models.writing.languages import is_multilingual
from pellucid.models.writing.tokenizing import encoded_source
from pellucid.models.writing.writing_model import WritingModel

NO_LIMIT = 10**9


@dataclass(frozen=True)
class Written:
    """A text that a model wrote after its source.

    is_cut: whether it ended because it had no more room, and not by the model's own end token.
    """

    source: str
    text: str
    is_cut: bool


def written_after(model: WritingModel, text: str, beam: int, max_pieces: int) -> Written:
    """What the model writes after a text, by beam search (1: greedily).

    max_pieces: the most pieces, fewer where the model has no room for them. The same model and text give the same answer: nothing is
    drawn at random. A model may write nothing, an empty text. Raises `BadInput` for a text that is too long.
    """
    return _endings(model, text, beam, max_pieces, 1)[0]


def likeliest(model: WritingModel, text: str, beam: int, max_pieces: int, count: int) -> list[Written]:
    """The count best endings of a beam search, best first, without empty ones. count: at most beam. See `written_after`."""
    return [one for one in _endings(model, text, beam, max_pieces, count) if one.text]


def _endings(model: WritingModel, text: str, beam: int, max_pieces: int, count: int) -> list[Written]:
    ids = torch.tensor([encoded_source(model.tokenizer, text)["input_ids"]], device=model.device)
    searched = _searched(model, text, ids, beam, min(max_pieces, _room(model, text, ids.shape[1])), count)
    ends = end_ids(model.network, model.tokenizer)
    answers = []
    for new in searched:
        written = model.tokenizer.decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        shown = written.strip() if model.has_encoder or not written.strip() else written
        answers.append(Written(text, shown, not ends & set(new)))
    return answers


def _room(model: WritingModel, text: str, count: int) -> int:
    """The most pieces that fit; a language model's prompt and what it writes share its places."""
    most = most_pieces(model.network.config) or NO_LIMIT
    room = most - 1 if model.has_encoder else most - count
    if count > most or room < 1:
        raise BadInput(
            f"{quoted(text)} has {count} pieces, and {model.name} reads {most} at once; give a shorter text."
        )
    return room


def _searched(
    model: WritingModel, text: str, ids: torch.Tensor, beam: int, max_pieces: int, count: int
) -> list[list[int]]:
    """The ids that the library's search gives after those of the text [1 piece], best first."""
    start = _start(model)
    with evaluating(model.network), torch.no_grad():
        try:
            answers = model.network.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                num_beams=beam,
                num_return_sequences=count,
                max_new_tokens=max_pieces,
                pad_token_id=model.blank_ids()["pad"],
                **PLAIN,
                **start,
            ).tolist()
        except (RuntimeError, ValueError, IndexError, AttributeError) as error:
            raise ModelCannot(
                f"{model.name} fails to write after {quoted(text)}: {reason(error)}."
            ) from error
    if not model.has_encoder:
        return [answer[ids.shape[1] :] for answer in answers]
    first = start["decoder_input_ids"].shape[1] if start else 1
    return [answer[first:] for answer in answers]


def _start(model: WritingModel) -> dict[str, Any]:
    """What a decoder of many languages begins with, so that it writes the one that was asked for; else nothing."""
    if not isinstance(model.form, EncoderDecoder) or not is_multilingual(model.tokenizer):
        return {}
    ids = model.form.start()
    return {
        "decoder_input_ids": torch.tensor([ids], device=model.device),
        "decoder_start_token_id": ids[0],
        "forced_bos_token_id": None,
    }


def continued(model: WritingModel, example: Example, beam: int = 1, max_pieces: int = 128) -> Example:
    """A pair as it is; of one text the pair with what the model writes after it."""
    if len(example.segments) == 2:
        return example
    written = written_after(model, example.segments[0], beam, max_pieces)
    if not written.text:
        raise ModelCannot(
            f"{model.name} writes nothing after {quoted(example.segments[0])}, so there is no word to explain; give the second text yourself."
        )
    return Example((*example.segments, written.text), id=example.id, meta=example.meta)
