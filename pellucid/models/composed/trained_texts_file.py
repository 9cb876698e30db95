"""The file in a trained model's folder that lists its train and dev texts, one digest a line."""

from collections.abc import Iterable
from pathlib import Path

from pellucid.core.foundation.files import read_text, write_text

FILE = "trained_texts.txt"


def read_trained_texts(folder: str | Path) -> frozenset[str]:
    """The digests in a folder; none where there is no such file, as in folders of earlier versions."""
    path = Path(folder) / FILE
    return frozenset(read_text(path).split()) if path.is_file() else frozenset()


def write_trained_texts(digests: Iterable[str], folder: str | Path) -> None:
    """Write them sorted, each once."""
    write_text(Path(folder) / FILE, "".join(f"{digest}\n" for digest in sorted(set(digests))))
