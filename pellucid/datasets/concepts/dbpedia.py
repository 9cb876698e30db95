"""DBpedia's types of things, as N-Triples: `<…/resource/Berlin> <…#type> <…/ontology/City> .`

Lehmann et al. (2015), "DBpedia: A Large-scale, Multilingual Knowledge Base Extracted from Wikipedia".
"""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import concept_readers
from pellucid.core.text.concept import Concept
from pellucid.datasets.shared.concept_lines import named_or_refused, numbered_lines

TRIPLE = re.compile(r"<([^<>\s]*)>\s+<([^<>\s]*)>\s+(?:<([^<>\s]*)>|\".*\"\S*)\s*\.\s*$")
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@concept_readers.add(reads="its type triples, an N-Triples file, also .bz2 or .gz", endings=("nt", "ttl"))
def dbpedia(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The things of the named types, by the last part of their addresses; names of several words are left out.

    names: the last parts of types' addresses, such as City. most: the most words of each, the first ones of the file; what
    stands in brackets after a name is dropped. Lines with another predicate are passed over.

    Raises `BadFile`, with the line, for a line that is no triple, and where the file does not have a type.
    """
    words: dict[str, dict[str, None]] = {name: {} for name in names}
    for number, line in numbered_lines(path):
        if line.startswith("#"):
            continue
        triple = TRIPLE.match(line)
        if triple is None:
            raise BadFile(f"Line {number} of {path} is no triple <thing> <predicate> <type> .")
        thing, predicate, kind = triple.groups()
        of_type = words.get(_last_part(kind or ""))
        if predicate == TYPE and of_type is not None and len(of_type) < most:
            word = _last_part(thing).partition("_(")[0]
            if word and "_" not in word:
                of_type[word] = None
    return named_or_refused(path, {name: list(of_type) for name, of_type in words.items()}, most)


def _last_part(address: str) -> str:
    """What stands after the last / or # of an address, without escapes."""
    return unquote(re.split(r"[/#]", address)[-1])
