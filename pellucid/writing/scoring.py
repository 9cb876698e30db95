"""The door `bleu`: how near a translator comes to references, or nearer than another one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pellucid.base.checks import between, every, quoted
from pellucid.base.errors import BadInput
from pellucid.base.files import possible_path, read_text, write_text
from pellucid.base.packages import optional_package
from pellucid.data.built_in import LINKS
from pellucid.explaining.inputs.examples import examples_from
from pellucid.explaining.inputs.models import translator_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.explanation import Explanation
from pellucid.text.example import Example, seen_caveats
from pellucid.writing.bleu import TranslationScores, check_scoring, translation_scores
from pellucid.writing.doors import check_search, write
from pellucid.writing.links import (
    Links,
    LinkScores,
    aligned,
    link_scores_of,
    linked_words,
    parsed_links,
)


def bleu(
    model: ModelSource | Sequence[str],
    pairs: Data,
    *,
    baseline: ModelSource | Sequence[str] | None = None,
    beam: int = 5,
    max_pieces: int = 128,
    tokenize: str = "13a",
    resamples: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> TranslationScores:
    """BLEU and chrF of a translator on pairs of texts, with their signature and intervals.

    model: a translator from `load` or `train_translator`, its folder or hub name; or a list of translations, one for
        each pair.
    pairs: sources with their references, as `train_translator` takes them in memory; or a `pathlib.Path`.
    baseline: another translator, or its translations: then also by how much the model is better, with its 95 % interval
        over the same draws of sentences. A verdict over trainings needs several seeds of both.
    beam, max_pieces: as in `translate`.
    tokenize: how words are cut to be compared: "13a", sacrebleu's usual, "intl", "char", or "none" for texts that are
        cut already.
    resamples: draws of sentences, 100 or more.
    seed: of the draws.
    progress: draw a progress bar; None: when a terminal is watching.

    Where pairs were in the train or dev part of a translator that Pellucid trained, the scores have a caveat. Raises
    `MissingPackage` without sacrebleu (the extra `translation`), `BadInput` for one text in place of a
    pair, or for a list of another length, `ModelCannot` for a model that does not translate.

    >>> scores = pellucid.bleu(["the cat sat on a mat"], [("die Katze saß auf einer Matte", "the cat sat on the mat")])
    >>> round(scores.bleu.mean, 1), scores.sentences
    (53.7, 1)
    """
    optional_package("sacrebleu")  # before any work, as are the settings
    check_search(beam, max_pieces)
    check_scoring(tokenize, resamples)
    examples = examples_from(pairs)
    for example in examples:
        if len(example.segments) != 2:
            raise BadInput(f"Example {quoted(example.id)} has one text; give pairs: a source and its reference.")
    translator, rival = (
        None if source is None or _is_texts(source) else translator_from(source) for source in (model, baseline)
    )
    texts = _translations(translator or model, examples, beam, max_pieces, progress)
    others = None if baseline is None else _translations(rival or baseline, examples, beam, max_pieces, progress)
    references = [example.segments[1] for example in examples]
    scores = translation_scores(texts, references, baseline=others, tokenize=tokenize, resamples=resamples, seed=seed)
    seen = dict.fromkeys(caveat for source in (translator, rival) for caveat in seen_caveats(source, examples))
    return replace(scores, caveats=tuple(seen))


def _is_texts(model: ModelSource | Sequence[str]) -> bool:
    return isinstance(model, list | tuple)


def _translations(
    model: ModelSource | Sequence[str],
    examples: Sequence[Example],
    beam: int,
    max_pieces: int,
    progress: bool | None,
) -> list[str]:
    if isinstance(model, list | tuple):
        return [str(text) for text in model]
    translator = translator_from(model)
    sources = [Example((example.segments[0],), id=example.id) for example in examples]
    return [output.text for output in write(translator, sources, beam=beam, max_pieces=max_pieces, progress=progress)]


# The door `link_scores`: do explanations of written words find the source words that the words come from?


def link_scores(
    explanations: Sequence[Explanation],
    links: str | Path | Sequence[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> LinkScores:
    """How often the source word with the highest score is the one that a written word comes from.

    explanations: of a translator's words, a row for each, by any method; their second texts are the references that
        links speak of.
    links: a file with a line a pair, such as "0-0 1-2" (source word and target word, counted from 0 between blanks), or
        these lines; None: those in each example's `meta["links"]`, which `planted_translation` has.
    resamples, seed: draws of pairs, for the interval.

    Beside it stand what the same relative place and a word at random would get. Raises `BadInput` for a file with more
    or fewer lines than explanations, for links that are none, and for explanations without a row for each word.

    >>> pair = pellucid.Example(("A good film.", "A fine story."), meta={"links": "0-0 1-1 2-2"})
    >>> scores = pellucid.link_scores(pellucid.explain("my-translator", pair))
    >>> scores.words, round(scores.chance, 2)
    (3, 0.33)
    """
    checked = every("explanations", explanations, Explanation, "of a translator's words, from `explain`")
    lines = _lines(checked, links)
    return link_scores_of(
        [linked_words(explanation) for explanation in checked],
        [_links_of(explanation, line, where) for explanation, (line, where) in zip(checked, lines, strict=True)],
        resamples=resamples,
        seed=seed,
    )


def _lines(explanations: Sequence[Explanation], links: str | Path | Sequence[str] | None) -> list[tuple[str, str]]:
    """For each explanation its line of links, and where that stands."""
    if links is None:
        return [
            (str(explanation.example.meta.get(LINKS, "")), f"Example {quoted(explanation.example.id)}")
            for explanation in explanations
        ]
    if isinstance(links, str | Path):
        lines, name = read_text(possible_path(links)).splitlines(), str(links)
    else:
        lines, name = [str(line) for line in links], "links"
    if len(lines) != len(explanations):
        raise BadInput(f"{name} has {len(lines):,} lines for {len(explanations):,} explanations; give one a pair.")
    return [(line, f"{name}, line {position}") for position, line in enumerate(lines, 1)]


def _links_of(explanation: Explanation, line: str, where: str) -> Links:
    source, target = (len(text.split()) for text in explanation.example.segments)
    return parsed_links(line, source, target, where)


# The door `links`: which words of texts and translations belong together, by a word aligner of the user's.

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

    A link is one that the aligner found in both directions; other words have none. They are good guesses and not the
    truth.

    pairs: texts with their translations; or a `pathlib.Path`. An aligner needs some thousands of pairs.
    beside: more pairs that it learns from, whose links are not returned: such as the train part beside test pairs.
    out: a file for the links, a line a pair, such as "0-0 1-2": source word and target word, counted from 0 between
        blanks.
    program: eflomal's `eflomal-align`, by name or path. It runs as a program, without a shell, and draws without a
        seed.
    seconds: after so many it is ended; 10,000 pairs take about half a minute.

    Returns the lines. Raises `BadInput` for one text in place of a pair, `BadFile` where the program is missing, fails,
    or takes longer.

    >>> pellucid.links([("a dog", "ein Hund")], program="./eflomal-align")
    ['0-0 1-1']
    """
    between("seconds", seconds, 0.1, LONGEST)
    examples, more = examples_from(pairs), [] if beside is None else examples_from(beside)
    for example in (*examples, *more):
        if len(example.segments) != 2:
            raise BadInput(f"Example {quoted(example.id)} has one text; give pairs: a text and its translation.")
    texts = [(source, target) for source, target in (pair.segments for pair in (*examples, *more))]
    lines = aligned(texts, program, seconds)[: len(examples)]
    if out is not None:
        write_text(possible_path(out), "".join(f"{line}\n" for line in lines))
    return lines
