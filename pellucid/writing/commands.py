"""The commands of models that write: `pellucid translate`, `write`, `bleu` and `links`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.json_text import nan_as_none
from pellucid.base.packages import literals
from pellucid.drawing.html import plain
from pellucid.explaining.commands.data_options import Reading, TextOptions, Texts
from pellucid.explaining.commands.model_options import LanguageOptions, held_out, with_option_records
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from pellucid.models.writing.continuing import Written
    from pellucid.results.explanation import Explanation
    from pellucid.writing.doors import Translation

# How far the commands that write texts search, and how long a text may get.

LIMITS = literals("pellucid.writing.doors")
Beam = Annotated[
    int, typer.Option(min=1, max=LIMITS["MOST_BEAMS"], help="How many beginnings the search follows at once.")
]
MaxPieces = Annotated[
    int, typer.Option(min=1, max=LIMITS["MOST_PIECES"], help="The most pieces of a text that the model writes.")
]


# What `write` and `translate` say of how texts ended.


def say_endings(written: Sequence[Written | Translation]) -> None:
    """How many texts were cut, and of how many the model wrote nothing; no line where it is none."""
    cut, empty = sum(output.is_cut for output in written), sum(not output.text for output in written)
    if cut:
        say(
            f"{cut} of {len(written)} ended because there was no more room; --max-pieces gives more.",
            aside=True,
        )
    if empty:
        say(f"After {empty} of {len(written)} the model wrote nothing.", aside=True)


SHOWN = 3  # spans of each word, for --json


@with_option_records
def translate(
    model: Annotated[
        str,
        typer.Argument(help="A folder with a translator, such as train-translator writes, or a hub name."),
    ],
    texts: Texts = None,
    *,
    source: TextOptions,
    reading: Reading,
    languages: LanguageOptions,
    beam: Beam = 5,
    max_pieces: MaxPieces = 128,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page that shows which spans of the source each word was written from."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the texts as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Translate texts; of a translator that explains itself, say which spans each word was written from."""
    from pellucid.explaining.inputs.models import translator_from

    check_outputs([html], [source.file, *(texts or [])])  # reported before the work, not after it
    examples = source.examples(texts or [], reading)
    translator = pellucid.load(model, device=device, **asdict(languages))
    if html is not None and "span_weights" not in translator.capabilities:
        raise BadSetting(
            f"--html shows a translator's own spans, and {model} has none; pellucid explain MODEL TEXT --html explains "
            f"its words."
        )
    is_explained = html is not None or as_json or len(examples) == 1
    if not is_explained:  # nobody would see the explanations
        _print(pellucid.write(translator_from(translator), examples, beam=beam, max_pieces=max_pieces))
        return
    done = pellucid.translate(translator, examples, beam=beam, max_pieces=max_pieces)
    explanations = [translation.explanation for translation in done if translation.explanation is not None]
    if html is not None and explanations:
        pellucid.report(explanations, path=html)
    if as_json:
        print(json.dumps([_record(translation) for translation in done]))
        return
    _print(done, explanations if len(done) == 1 else ())


def _print(written: Sequence[Written | pellucid.Translation], explanations: Sequence[Explanation] = ()) -> None:
    for output in written:
        print(plain(output.text))
    for explanation in explanations:
        print(f"\n{explanation}")
    say_endings(written)


def _record(translation: pellucid.Translation) -> dict[str, object]:
    """What --json prints of a translation; words: None of a translator without spans."""
    words = None if translation.explanation is None else _words(translation.explanation)
    return {"source": translation.source, "text": translation.text, "is_cut": translation.is_cut, "words": words}


def _words(explanation: Explanation) -> list[dict[str, object]]:
    """For each written word its heaviest spans of the source, and the share of its lead that went through them, None
    where it did not lead.
    """
    ((_, labels),) = explanation.rows
    rows = [(label.partition(" ")[2], explanation.row(label)) for label in labels]
    return [
        {
            "word": word,
            "spans": [
                {"text": span.text, "start": span.start, "end": span.end, "weight": span.score}
                for span in row.spans(SHOWN)
            ],
            "carried": row.diagnostics.get("carried"),
        }
        for word, row in rows
    ]


# `pellucid write MODEL TEXT…`: what a translator or a language model writes after texts.


@with_option_records
def write(
    model: Annotated[str, typer.Argument(help="A folder with a model that writes, or the name of one on the hub.")],
    texts: Texts = None,
    *,
    source: TextOptions,
    reading: Reading,
    languages: LanguageOptions,
    beam: Beam = 1,
    max_pieces: MaxPieces = 128,
    as_json: Annotated[bool, typer.Option("--json", help="Print the texts as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Write what a translator or a language model writes after texts: each alone, nothing drawn at random."""
    examples = source.examples(texts or [], reading)
    written = pellucid.write(
        pellucid.load(model, device=device, **asdict(languages)), examples, beam=beam, max_pieces=max_pieces
    )
    if as_json:
        print(json.dumps([asdict(output) for output in written]))
        return
    for output in written:
        print(plain(output.text.strip()))
    say_endings(written)


# `pellucid bleu MODEL DATA`: how near a translator comes to references.


@with_option_records
def bleu(
    model: Annotated[str, typer.Argument(help="A folder with a translator, or a hub name.")],
    data: Annotated[str, typer.Argument(help="Pairs of texts: a file, a folder with parts, a data set's name.")],
    *,
    reading: Reading,
    languages: LanguageOptions,
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many pairs, from the first on.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Another translator: by how much is MODEL better on the same sentences?"),
    ] = None,
    beam: Beam = 5,
    max_pieces: MaxPieces = 128,
    tokenize: Annotated[str, typer.Option(help="How words are cut: 13a, intl, char or none.")] = "13a",
    resamples: Annotated[int, typer.Option(min=100, help="Draws of sentences, for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """BLEU and chrF of a translator, with their signature, and by how much it is better than another one."""
    source = reading.source(data, split)
    examples = source.examples()[:limit]
    translator = pellucid.load(model, device=device, **asdict(languages))
    judged, _ = held_out(translator, examples, source)
    baseline_translator = None if baseline is None else pellucid.load(baseline, device=device, **asdict(languages))
    scores = pellucid.bleu(
        translator,
        judged,
        baseline=baseline_translator,
        beam=beam,
        max_pieces=max_pieces,
        tokenize=tokenize,
        resamples=resamples,
        seed=seed,
    )
    print(json.dumps(nan_as_none(asdict(scores))) if as_json else scores)


# `pellucid links DATA`: which words of texts and their translations belong together.


@with_option_records
def links(
    data: Annotated[str, typer.Argument(help="Pairs of texts: a file, a folder with parts, a data set's name.")],
    *,
    out: Annotated[Path, typer.Option(help="The file for the links, a line a pair.")],
    reading: Reading,
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many pairs, from the first on.")] = None,
    beside: Annotated[
        str | None,
        typer.Option(help="Another part that the aligner learns from too, such as train."),
    ] = None,
    program: Annotated[str, typer.Option(help="eflomal's program, by name or path.")] = "eflomal-align",
    seconds: Annotated[float, typer.Option(help="After so many the program is ended.")] = 600.0,
) -> None:
    """Links of words by the aligner eflomal, which you install yourself: silver ones, to hold explanations against."""
    check_outputs([out], [data])
    source = reading.source(data, split)
    if beside is not None and source.is_one_file:
        raise BadSetting(
            f"{data} is one file, which has no part {beside}; leave --beside away, or give a folder with parts."
        )
    lines = pellucid.links(
        source.examples()[:limit],
        beside=None if beside is None else reading.source(data, beside).examples(),
        out=out,
        program=program,
        seconds=seconds,
    )
    say(f"{out}: {sum(len(line.split()) for line in lines):,} links of {len(lines):,} pairs.")
