"""`pellucid translate MODEL TEXT…`: translations, with the spans that each word was written from."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.api.inputs.models import translator_from
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.cli.options.data_options import Reading, TextOptions, Texts
from pellucid.cli.options.model_options import LanguageOptions
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.writing.search_options import Beam, MaxPieces, say_endings
from pellucid.models.writing.continuing import Written
from pellucid.reports.markup.html import plain
from pellucid.results.explanation import Explanation

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
    check_outputs([html], [source.file, *(texts or [])])  # reported before the work, not after it
    examples = source.examples(texts or [], reading)
    translator = pellucid.load(model, device=device, **asdict(languages))
    if html is not None and "span_weights" not in translator.capabilities:
        raise BadSetting(
            f"--html shows a translator's own spans, and {model} has none; pellucid explain MODEL TEXT --html explains its words."
        )
    is_explained = html is not None or as_json or len(examples) == 1
    if not is_explained:  # nobody would see the explanations
        _print(pellucid.write(translator_from(translator), examples, beam=beam, max_pieces=max_pieces))
        return
    done = pellucid.translate(translator, examples, beam=beam, max_pieces=max_pieces)
    explanations = [one.explanation for one in done if one.explanation is not None]
    if html is not None and explanations:
        pellucid.report(explanations, path=html)
    if as_json:
        print(json.dumps([_record(one) for one in done]))
        return
    _print(done, explanations if len(done) == 1 else ())


def _print(
    written: Sequence[Written | pellucid.Translation], explanations: Sequence[Explanation] = ()
) -> None:
    for one in written:
        print(plain(one.text))
    for explanation in explanations:
        print(f"\n{explanation}")
    say_endings(written)


def _record(one: pellucid.Translation) -> dict[str, object]:
    """What --json prints of a translation; words: None of a translator without spans."""
    words = None if one.explanation is None else _words(one.explanation)
    return {"source": one.source, "text": one.text, "is_cut": one.is_cut, "words": words}


def _words(explanation: Explanation) -> list[dict[str, object]]:
    """For each written word its heaviest spans of the source, and the share of its lead that went through them, None where it did not lead."""
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
