"""Languages of translators that know many, such as NLLB, mBART and M2M-100: codes among the pieces that they read and write."""

import re
from dataclasses import dataclass
from typing import Any

from pellucid.core.foundation.checks import known
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.wording import in_syntax, quoted

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
