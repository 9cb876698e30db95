"""What of a model's generation_config.json counts: which pieces begin and end what it writes, and which it never writes.

Penalties, least lengths and sampling do not count: a text that is explained piece by piece is the one that the model itself finds likely.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.base.checks import known
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.wording import in_syntax, quoted
from pellucid.models.folders.configuration import read_object

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
    """Give a network what its folder's file says, if there is one; raises `BadFile` for ids that are none of its vocabulary."""
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
        for one in value:
            yield from _flat(one)
    else:
        yield value


# Languages of translators that know many, such as NLLB, mBART and M2M-100: codes among the pieces that
# they read and write.


CODE = re.compile(r"(?:__)?([a-z]{2,3}(?:_[A-Za-z]{2,4})?)(?:__)?")  # deu_Latn, de_DE, __de__


@dataclass(frozen=True)
class Languages:
    """The codes of the languages that are read and written, such as "eng_Latn" and "deu_Latn"; None: as the tokenizer says."""

    source: str | None = None
    target: str | None = None

    def of(self, tokenizer: Any, name: str) -> Any:  # a fast tokenizer of any family
        """The tokenizer, set to these languages; name: what messages call the model.

        Raises `BadSetting` for a model of one language, or where none is named that is to be written, `UnknownName` for a code that is
        not there.
        """
        if not is_multilingual(tokenizer):
            if self.source is not None or self.target is not None:
                which = in_syntax(
                    "source_language= and target_language=", "--source-language and --target-language"
                )
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
                f"{name} writes several languages; {way} and a code, such as {quoted(codes[0] if codes else 'deu_Latn')}."
            )
        return tokenizer


def is_multilingual(tokenizer: Any) -> bool:
    """Whether a tokenizer puts codes of languages around what it reads and writes."""
    return hasattr(tokenizer, "src_lang") and hasattr(tokenizer, "tgt_lang")


def language_codes(tokenizer: Any) -> list[str]:
    """The codes among the special pieces, sorted."""
    specials = [str(token) for token in tokenizer.all_special_tokens]
    return sorted(match[1] for token in specials if (match := CODE.fullmatch(token)))
