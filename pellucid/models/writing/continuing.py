"""What of a model's generation_config.json counts: which pieces begin and end what it writes, and which it never
writes.

Penalties, least lengths and sampling do not count: a text that is explained piece by piece is the one that the model
itself finds likely.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pellucid.base.checks import in_syntax, known, quoted, reason
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.families.probes import most_pieces
from pellucid.models.folders.configuration import read_object
from pellucid.models.writing.chat import prompt_ids
from pellucid.models.writing.forms import EncoderDecoder, LanguageModel
from pellucid.models.writing.tokenizing import encoded_prompt, encoded_source
from pellucid.models.writing.writing_model import WritingModel
from pellucid.text.example import Example, prompted
from pellucid.text.passages import turns_of

FILE = "generation_config.json"
MOST = 10**9  # ids, of a network whose table of word vectors is of a kind of its own
READ = (
    "eos_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "suppress_tokens",
    "begin_suppress_tokens",
    "bad_words_ids",
)
PLAIN: dict[str, Any] = {
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "length_penalty": 1.0,
    "early_stopping": False,
    "min_new_tokens": 0,
}  # settings of the library's search that leave its numbers as they are


def read_generation_settings(folder: Path, network: Any) -> None:  # Any: a network of the library that writes
    """Give a network what its folder's file says, if there is one; raises `BadFile` for ids that are none of its
    vocabulary.
    """
    path = folder / FILE
    if not path.is_file():
        return
    values = {name: value for name, value in read_object(path).items() if name in READ and value is not None}
    size = getattr(network.get_input_embeddings(), "num_embeddings", MOST)
    for name, value in values.items():
        for id in _flat(value):
            if isinstance(id, bool) or not isinstance(id, int) or not 0 <= id < size:
                raise BadFile(
                    f"{path} has {name}={id!r}, which is no id of the model's {size:,} pieces; save the model anew."
                )
        setattr(network.generation_config, name, value)


def end_ids(network: Any, tokenizer: Any) -> set[int]:  # Any: see above, and a tokenizer of the library
    """The ids after which the library's search ends a text."""
    owners = (network.generation_config, network.config, tokenizer)
    named = [value for owner in owners if (value := getattr(owner, "eos_token_id", None)) is not None]
    return set(_flat(named[0])) if named else set()


def _flat(value: Any) -> Iterator[Any]:  # Any: an id, or lists of them
    if isinstance(value, list | tuple):
        for nested in value:
            yield from _flat(nested)
    else:
        yield value


# Languages of translators that know many, such as NLLB, mBART and M2M-100: codes among the pieces that they read and
# write.

CODE = re.compile(r"(?:__)?([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:__)?")  # deu_Latn, de_DE, __de__


@dataclass(frozen=True)
class Languages:
    """The codes of the languages that are read and written, such as "eng_Latn" and "deu_Latn"; None: as the tokenizer
    says.
    """

    source: str | None = None
    target: str | None = None

    def applied_to(self, tokenizer: Any, name: str) -> Any:  # a fast tokenizer of any family
        """The tokenizer, set to these languages; name: what messages call the model.

        Raises `BadSetting` for a model of one language, or where none is named that is to be written, `UnknownName` for
        a code that is not there.
        """
        if not is_multilingual(tokenizer):
            if self.source is not None or self.target is not None:
                which = in_syntax("source_language= and target_language=", "--source-language and --target-language")
                raise BadSetting(f"{name} has no codes of languages; leave {which} away.")
            return tokenizer
        codes = language_codes(tokenizer)
        for code in (self.source, self.target):
            if code is not None:
                known(f"language of {name}", code, codes)
        if self.source is not None:
            tokenizer.src_lang = self.source
        if self.target is not None:
            tokenizer.tgt_lang = self.target
        if tokenizer.tgt_lang is None:
            way = in_syntax("give target_language=", "give --target-language")
            raise BadSetting(
                f"{name} writes several languages; {way} and a code, such as "
                f"{quoted(codes[0] if codes else 'deu_Latn')}."
            )
        return tokenizer


def is_multilingual(tokenizer: Any) -> bool:
    """Whether a tokenizer puts codes of languages around what it reads and writes."""
    return hasattr(tokenizer, "src_lang") and hasattr(tokenizer, "tgt_lang")


def language_codes(tokenizer: Any) -> list[str]:
    """The codes among the special pieces, sorted."""
    specials = [str(token) for token in tokenizer.all_special_tokens]
    return sorted(match[1] for token in specials if (match := CODE.fullmatch(token)))


# What a model writes after a text: by the library's own search, one text at a time, so that neighbours change
# nothing.

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

    max_pieces: the most pieces, fewer where the model has no room for them: the text can be read again, which may take
    more pieces than writing it. The same model and text give the same answer: nothing is drawn at random. A model may
    write nothing, an empty text. text: may be empty where the model has a token that begins texts. Raises `BadInput`
    for a text that is too long.
    """
    return _endings(model, prompted((text,)), beam, max_pieces, 1)[0]


def likeliest(model: WritingModel, text: str, beam: int, max_pieces: int, count: int) -> list[Written]:
    """The count best endings of a beam search, best first, without empty ones. count: at most beam. See
    `written_after`.
    """
    return [ending for ending in _endings(model, prompted((text,)), beam, max_pieces, count) if ending.text]


def _endings(model: WritingModel, source: Example, beam: int, max_pieces: int, count: int) -> list[Written]:
    text = source.segments[0]
    ids = torch.tensor([_source_ids(model, source)], device=model.device)
    searched = _searched(model, text, ids, beam, min(max_pieces, _room(model, text, ids.shape[1])), count)
    return [_readable(model, source, new) for new in searched]


def _source_ids(model: WritingModel, source: Example) -> list[int]:
    """The pieces of what is read; of an empty prompt the token that begins texts, as it is read when it is
    explained.
    """
    text, is_language_model = source.segments[0], isinstance(model.form, LanguageModel)
    if turns_of(source):
        return prompt_ids(model.tokenizer, text)
    encoded = encoded_prompt if is_language_model else encoded_source
    ids = list(encoded(model.tokenizer, text)["input_ids"])
    if ids:
        return ids
    beginning = model.form.beginning if isinstance(model.form, LanguageModel) else None
    if beginning is None:
        raise BadInput(f"{model.name} has no token that begins texts; give a text with a visible character.")
    return [beginning]


def _readable(model: WritingModel, source: Example, new: list[int]) -> Written:
    """What was written, without the last pieces where the model has no room to read them again: a text's own pieces can
    be more.
    """
    is_cut = not end_ids(model.network, model.tokenizer) & set(new)
    text = source.segments[0]

    def text_of(count: int) -> str:
        written = model.tokenizer.decode(new[:count], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return written.strip() if model.has_encoder or not written.strip() else written

    def is_too_long(count: int) -> bool:
        written = text_of(count)
        return bool(written.strip()) and model.form.excess(prompted((text, written), meta=source.meta)) > 0

    if not is_too_long(len(new)):
        return Written(text, text_of(len(new)), is_cut)
    longest = bisect_left(range(1, len(new)), True, key=is_too_long)
    return Written(text, text_of(longest), True)


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
            raise ModelCannot(f"{model.name} fails to write after {quoted(text)}: {reason(error)}.") from error
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
    written = _endings(model, example, beam, max_pieces, 1)[0]
    if not written.text:
        raise ModelCannot(
            f"{model.name} writes nothing after {quoted(example.segments[0])}, so there is no word to explain; give "
            f"the second text yourself."
        )
    return prompted((*example.segments, written.text), id=example.id, meta=example.meta)


# Paraphrases by two models: one translates a text, the other its translations back.

MOST_PIECES = 256
BEAM = 5


@dataclass(frozen=True, eq=False)
class ModelPivot:
    """there, back: models that write. n_best: translations that are translated back."""

    there: WritingModel
    back: WritingModel
    n_best: int = 1

    @property
    def digest(self) -> str:
        """Of both models and of how many translations are read."""
        return f"{self.there.hash} {self.back.hash} {self.n_best}"

    def paraphrases(self, text: str) -> list[str]:
        """The different texts that came back, in the order of their translations; none for a text that is too long or
        says nothing.
        """
        if not text.strip():
            return []
        beam = max(BEAM, self.n_best)
        try:
            there = likeliest(self.there, text.strip(), beam, MOST_PIECES, self.n_best)
            back = [paraphrase for way in there for paraphrase in likeliest(self.back, way.text, beam, MOST_PIECES, 1)]
        except BadInput:  # more pieces than the models read
            return []
        return list(dict.fromkeys(paraphrase.text for paraphrase in back if not paraphrase.is_cut))
