"""The door `link_scores`: do explanations of written words find the source words that the words come from?"""

from collections.abc import Sequence
from pathlib import Path

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.files import possible_path, read_text
from pellucid.core.foundation.wording import quoted
from pellucid.core.results.explanation import Explanation
from pellucid.datasets.built_in.planted_translation import LINKS
from pellucid.evaluation.translations.linked_words import linked_words
from pellucid.evaluation.translations.links import Links, LinkScores, link_scores_of, parsed_links


def link_scores(
    explanations: Sequence[Explanation],
    links: str | Path | Sequence[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> LinkScores:
    """How often the source word with the highest score is the one that a written word comes from.

    explanations: of a translator's words, a row for each, by any method; their second texts are the references that links speak of.
    links: a file with a line a pair, such as "0-0 1-2" (source word and target word, counted from 0 between blanks), or these lines;
        None: those in each example's `meta["links"]`, which `planted_translation` has.
    resamples, seed: draws of pairs, for the interval.

    Beside it stand what the same relative place and a word at random would get. Raises `BadInput` for a file with more or fewer lines than
    explanations, for links that are none, and for explanations without a row for each word.

    >>> pair = pellucid.Example(("A good film.", "A fine story."), meta={"links": "0-0 1-1 2-2"})
    >>> scores = pellucid.link_scores(pellucid.explain("my-translator", pair))
    >>> scores.words, round(scores.chance, 2)
    (3, 0.33)
    """
    checked = every("explanations", explanations, Explanation, "of a translator's words, from `explain`")
    lines = _lines(checked, links)
    return link_scores_of(
        [linked_words(one) for one in checked],
        [_links_of(one, line, where) for one, (line, where) in zip(checked, lines, strict=True)],
        resamples=resamples,
        seed=seed,
    )


def _lines(
    explanations: Sequence[Explanation], links: str | Path | Sequence[str] | None
) -> list[tuple[str, str]]:
    """For each explanation its line of links, and where that stands."""
    if links is None:
        return [
            (str(one.example.meta.get(LINKS, "")), f"Example {quoted(one.example.id)}")
            for one in explanations
        ]
    if isinstance(links, str | Path):
        lines, name = read_text(possible_path(links)).splitlines(), str(links)
    else:
        lines, name = [str(line) for line in links], "links"
    if len(lines) != len(explanations):
        raise BadInput(
            f"{name} has {len(lines):,} lines for {len(explanations):,} explanations; give one a pair."
        )
    return [(line, f"{name}, line {number}") for number, line in enumerate(lines, 1)]


def _links_of(explanation: Explanation, line: str, where: str) -> Links:
    source, target = (len(text.split()) for text in explanation.example.segments)
    return parsed_links(line, source, target, where)
