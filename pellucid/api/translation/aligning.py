"""The door `links`: which words of texts and translations belong together, by a word aligner of the user's."""

from pathlib import Path

from pellucid.api.inputs import examples_from
from pellucid.api.inputs.data import Data
from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.files import possible_path, write_text
from pellucid.core.foundation.wording import quoted
from pellucid.evaluation.translations.aligner import aligned

LONGEST = 7 * 24 * 3600.0  # seconds


def links(
    pairs: Data,
    *,
    beside: Data | None = None,
    out: str | Path | None = None,
    program: str = "eflomal-align",
    seconds: float = 600.0,
) -> list[str]:
    """Silver links of words for `link_scores`, by the word aligner eflomal, which you install yourself.

    A link is one that the aligner found in both directions; other words have none. They are good guesses and not the truth.

    pairs: texts with their translations; or a `pathlib.Path`. An aligner needs some thousands of pairs.
    beside: more pairs that it learns from, whose links are not returned: such as the train part beside test pairs.
    out: a file for the links, a line a pair, such as "0-0 1-2": source word and target word, counted from 0 between blanks.
    program: eflomal's `eflomal-align`, by name or path. It runs as a program, without a shell, and draws without a seed.
    seconds: after so many it is ended; 10,000 pairs take about half a minute.

    Returns the lines. Raises `BadInput` for one text in place of a pair, `BadFile` where the program is missing, fails, or takes longer.

    >>> pellucid.links([("a dog", "ein Hund")], program="./eflomal-align")
    ['0-0 1-1']
    """
    between("seconds", seconds, 0.1, LONGEST)
    examples, more = examples_from(pairs), [] if beside is None else examples_from(beside)
    for example in (*examples, *more):
        if len(example.segments) != 2:
            raise BadInput(
                f"Example {quoted(example.id)} has one text; give pairs: a text and its translation."
            )
    texts = [(source, target) for source, target in (one.segments for one in (*examples, *more))]
    lines = aligned(texts, program, seconds)[: len(examples)]
    if out is not None:
        write_text(possible_path(out), "".join(f"{line}\n" for line in lines))
    return lines
