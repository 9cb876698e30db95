"""Microsoft Concept Graph: concepts with the instances that web pages name of them.

Wu et al. (2012), "Probase: A Probabilistic Taxonomy for Text Understanding".
"""

from collections.abc import Sequence
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import concept_readers
from pellucid.core.text.concept import Concept
from pellucid.datasets.shared.concept_lines import named_or_refused, numbered_lines


@concept_readers.add(reads="its tsv: concept, instance and count, with tabs between", endings=("tsv",))
def concept_graph(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The instances of the named concepts, most often named first; instances of several words are left out.

    names: concepts as the file writes them. most: the most words of each. The file is read line by line, not held.

    Raises `BadFile`, with the line, for a line without three columns or with a count that is no whole number, and where the
    file does not have a concept.
    """
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for number, line in numbered_lines(path):
        columns = line.split("\t")
        if len(columns) != 3 or not columns[2].strip().isdecimal():
            raise BadFile(f"Line {number} of {path} is not concept, instance and count with tabs between.")
        concept, instance, count = columns[0].strip(), columns[1].strip(), int(columns[2])
        if concept in counts and instance and " " not in instance:
            words = counts[concept]
            words[instance] = words.get(instance, 0) + count
    ranked = {name: sorted(words, key=lambda word: (-words[word], word)) for name, words in counts.items()}
    return named_or_refused(path, ranked, most)
