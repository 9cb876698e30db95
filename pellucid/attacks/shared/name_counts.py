"""How often names of people, places and organisations occur in the texts of each class."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pellucid.attacks.apertium.tagged_words import NameKind, Tagger
from pellucid.core.foundation.json_text import json_digest
from pellucid.core.text.example import Example
from pellucid.core.text.label_map import label_names

KINDS: tuple[NameKind, ...] = (
    "person",
    "place",
    "organisation",
)  # "other" names have nothing else in common


@dataclass(frozen=True)
class NameCounts:
    """counts: (labels of texts, kind of name) -> name, as the texts write it -> how often it occurs."""

    counts: Mapping[tuple[tuple[str, ...], NameKind], Mapping[str, int]]

    @property
    def digest(self) -> str:
        """Of all counts."""
        return json_digest(
            [[*key, *pair] for key in sorted(self.counts) for pair in sorted(self.counts[key].items())]
        )

    def commonest(self, kind: NameKind, label: str) -> list[str]:
        """The names of a kind in the texts that have not this label, commonest first; of equal ones the first in the alphabet."""
        sums: Counter[str] = Counter()
        for (labels, of_kind), names in self.counts.items():
            if of_kind == kind and label not in labels:
                sums.update(names)
        return sorted(sums, key=lambda name: (-sums[name], name))


def name_counts(examples: Sequence[Example], tagger: Tagger, several: bool = False) -> NameCounts:
    """The names in labelled texts, as the tagger reads them. several: a text can have several labels, between commas."""
    texts = [(text, label_names(one.label, several)) for one in examples for text in one.segments]
    counts: dict[tuple[tuple[str, ...], NameKind], Counter[str]] = {}
    for (text, labels), words in zip(texts, tagger.words([text for text, _ in texts]), strict=True):
        for word in words:
            if word.name in KINDS:
                counts.setdefault((labels, word.name), Counter())[text[word.start : word.end]] += 1
    return NameCounts(counts)
