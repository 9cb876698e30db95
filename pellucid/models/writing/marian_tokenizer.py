"""Marian's tokenizer with places in the text: the library's has none, SentencePiece, which it calls, has.

The ids are those of the library's tokenizer, or there is an error: what a user's own call reads is what is explained.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.core.foundation.errors import BadFile, ModelCannot
from pellucid.core.foundation.memory import check_memory
from pellucid.core.foundation.packages import optional_package
from pellucid.core.foundation.wording import quoted, reason
from pellucid.models.folders.library_output import quiet
from pellucid.models.folders.unattended import guarded

FILES = ("source.spm", "target.spm", "vocab.json")


@dataclass(frozen=True)
class EncodedPieces:
    """A text's pieces: ids, places in its characters, and for each 0, or None for a special token."""

    columns: dict[str, list]
    segments: tuple[int | None, ...]

    def __getitem__(self, name: str) -> list:
        return self.columns[name]

    def sequence_ids(self, number: int) -> Sequence[int | None]:
        """Each piece's segment; None for special tokens."""
        return self.segments


@dataclass(frozen=True, eq=False)
class MarianTokenizer:
    """The library's tokenizer, asked for a text or, as `text_target`, for what is written; everything else is the library's.

    Two languages have two lists of pieces. A language's code at the beginning of a text (`>>fra<<`) is a piece of its own.
    """

    own: Any  # the library's: it is loaded where sentencepiece is there
    is_fast = True  # it gives offsets, which is what is asked of fast ones

    def __call__(self, *texts: str, text_target: str | None = None, **settings: object) -> EncodedPieces:
        """The pieces with their places; settings: those of fast tokenizers, which change nothing here."""
        is_target = text_target is not None
        text = texts[0] if text_target is None else text_target
        ids = self.own(text_target=text)["input_ids"] if is_target else self.own(text)["input_ids"]
        places = self._places(text, self.own.spm_target if is_target else self.own.spm_source)
        special = len(ids) - len(places)
        if special != 1 or ids[-1] != self.own.eos_token_id:
            raise ModelCannot(
                f"The tokenizer reads {quoted(text)} as {len(ids)} pieces, and SentencePiece finds {len(places)} of them in the "
                "text; it changes the text before it reads it (is sacremoses installed?)."
            )
        columns = {"input_ids": ids, "offset_mapping": [*places, (0, 0)]}
        return EncodedPieces(columns, (*(0 for _ in places), None))

    def _places(self, text: str, pieces: Any) -> list[tuple[int, int]]:
        codes, rest = self.own.remove_language_code(text)
        start = len(text) - len(rest)
        of_rest = pieces.encode(rest, return_type="offset_mapping")["offsets"]
        return [(0, start)] * len(codes) + [(first + start, last + start) for first, last in of_rest]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def __len__(self) -> int:
        return len(self.own)

    @property
    def contents(self) -> str:
        """Everything that the ids depend on, for a digest."""
        models = [
            pieces.serialized_model_proto().hex() for pieces in (self.own.spm_source, self.own.spm_target)
        ]
        return json.dumps([self.own.get_vocab(), *models], sort_keys=True)


def is_marian_folder(folder: Path) -> bool:
    """Whether a folder has the files of Marian's tokenizer and no fast one."""
    return all((folder / name).is_file() for name in FILES) and not (folder / "tokenizer.json").is_file()


def load_marian_tokenizer(folder: Path, name: str) -> MarianTokenizer:
    """The tokenizer of a folder; raises `MissingPackage` without sentencepiece, `BadFile` where the files cannot be read."""
    optional_package("sentencepiece")
    from transformers import MarianTokenizer as LibraryTokenizer

    with quiet(), guarded():
        try:
            own = LibraryTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:
            check_memory(error, f"load a tokenizer from {name}")
            raise BadFile(f"Cannot load a tokenizer from {name}: {reason(error)}.") from None
    return MarianTokenizer(own)
