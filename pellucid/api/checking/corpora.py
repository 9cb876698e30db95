"""Explanations of other data sets, which stand beside those of a comparison."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.seals import json_digest
from pellucid.core.foundation.wording import listed
from pellucid.core.results.explanation import Explanation
from pellucid.evaluation.checking.scored_text import Explained, by_method

Read = Callable[[Path], Sequence[Explanation]]
WAY = "give what explain or read returned, or a file or folder"


def corpora_of(corpora: Any, methods: Sequence[str], read: Read) -> dict[str, Explained]:
    """Name -> method's title -> the texts of a data set; raises `BadInput` for one without a method of the comparison.

    corpora: what `compare` got: files, folders of comparisons or results in a list, or by name in a dictionary, or one of them.
    read: reads a file or folder.
    """
    named = corpora if isinstance(corpora, Mapping) else _numbered(corpora)
    read_in = {str(name): _texts(name, one, read) for name, one in named.items()}
    for name, texts in read_in.items():
        if not set(texts) & set(methods):
            raise BadInput(
                f"{name} is explained by {listed(texts) or 'no method'}, and this comparison has {listed(methods)}; explain it by one "
                "of these."
            )
    return read_in


def corpora_digests(corpora: Mapping[str, Explained]) -> dict[str, str]:
    """Name -> a digest of all words and scores."""
    return {
        name: json_digest(
            {method: [[one.words, one.scores.tolist()] for one in own] for method, own in texts.items()}
        )
        for name, texts in corpora.items()
    }


def _numbered(corpora: Any) -> dict[str, Any]:
    is_one = isinstance(corpora, str | PurePath) or (
        isinstance(corpora, Sequence) and bool(corpora) and isinstance(corpora[0], Explanation)
    )
    members = [corpora] if is_one else list(corpora)
    names = [
        str(one) if isinstance(one, str | PurePath) else f"data set {n}" for n, one in enumerate(members, 2)
    ]
    if len(set(names)) < len(names):
        raise BadInput(f"The same data set is named twice among {listed(names)}; name each once.")
    return dict(zip(names, members, strict=True))


def _texts(name: str, saved: Any, read: Read) -> Explained:
    if isinstance(saved, str | PurePath):
        return by_method(read(Path(saved)))
    return by_method(every(f"The data set {name}", saved, Explanation, WAY))
