"""The tokenizer's files in a trained model's folder: written, and made again where some are missing."""

from collections.abc import Collection
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import whole_files
from pellucid.core.foundation.wording import reason
from pellucid.models.classifiers.tokenizer import Tokenizer

ALWAYS = ("tokenizer.json", "tokenizer_config.json")  # what every tokenizer of ours leaves
TOKENIZER_FILES = (  # and what else the library's tokenizers leave, by kind
    *ALWAYS,
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "target_vocab.json",
    "bpe.codes",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "source.spm",
    "target.spm",
)


def save_tokenizer(tokenizer: Tokenizer, folder: Path, only: Collection[str] | None = None) -> None:
    """Write a tokenizer's files to a folder. only: the names of those to write; None: all."""
    with whole_files(folder) as temporary:
        try:
            tokenizer.save_pretrained(temporary)
        except Exception as error:  # the tokenizer's writer raises nothing more precise
            raise BadFile(f"Cannot write the tokenizer to {folder}: {reason(error)}.") from None
        for path in list(temporary.iterdir()):
            if only is not None and path.name not in only:
                path.unlink()


def missing_tokenizer_files(folder: Path, damaged: Collection[str]) -> list[str]:
    """The tokenizer's files that are not there, of those that every one leaves and of those that were damaged."""
    expected = {*ALWAYS, *(name for name in damaged if name in TOKENIZER_FILES)}
    return sorted(name for name in expected if not (folder / name).exists())
