"""`pellucid words RESULTS`: which words speak for and against each class? `pellucid shortcuts MODEL DATA`: does one
decide alone?
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.base.checks import at_least
from pellucid.base.errors import BadFile
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.data_options import Amount, Answers, Part, Reading, labelled, selected
from pellucid.explaining.commands.model_options import with_option_records
from pellucid.explaining.commands.safe_text import say
from pellucid.results.class_words import MIN_TEXTS
from pellucid.text.example import Example


def words(
    results: Annotated[
        str,
        typer.Argument(
            help="Results that `pellucid explain --save` wrote (.parquet or .json), the folder or address of a run, or "
            "a comparison's folder."
        ),
    ],
    *,
    top: Annotated[int, typer.Option(help="How many words for a class, and against it.")] = 15,
    label: Annotated[str | None, typer.Option("--class", help="One class alone.")] = None,
    method: Annotated[str | None, typer.Option(help="The method, where the results are of several methods.")] = None,
    min_texts: Annotated[int, typer.Option(help="Leave out words of fewer texts.")] = MIN_TEXTS,
    idf: Annotated[
        str | None,
        typer.Option(
            help="Other texts, which say how rare words are: a file, a folder or a data set. Lists of words and their "
            "overlap follow."
        ),
    ] = None,
    unit: Annotated[str, typer.Option(help="What the lists count: word, or piece, the tokens of --model.")] = "word",
    model: Annotated[str | None, typer.Option(help="The explained model, whose tokens --unit piece counts.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write all words to this .csv file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page of the words.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all words as JSON.")] = False,
) -> None:
    """Count which words speak for and against each class, over all texts of saved results."""
    from pellucid.explaining.read import read_in_turn
    from pellucid.words.views import terminal_class_words

    at_least("--top", top, 1)
    if csv is not None and csv.suffix != ".csv":
        raise BadFile(f"--csv {csv} does not end in .csv; give such a name.")
    check_outputs([csv, html], [results, idf])  # reported before the work, not after it
    of_method = read_in_turn(results, method)
    texts = None if idf is None else _texts(idf)
    counted = pellucid.class_words(of_method, min_texts=min_texts, idf=texts, unit=unit, model=model)  # type: ignore[arg-type]  # checked by the door
    counted = counted if label is None else counted.only(label)
    print(json.dumps(counted.record()) if as_json else terminal_class_words(counted, top=top).rstrip())
    if csv is not None:
        pellucid.write_csv(counted, csv)
    if html is not None:
        pellucid.report(counted, path=html)
    for path in filter(None, (csv, html)):
        say(f"Written: {path}", aside=True)


def _texts(idf: str) -> Sequence[Example]:
    """The texts that words are weighted by; what reads them is imported where it is needed, for it takes seconds."""
    from pellucid.explaining.commands.data_options import texts_of_file

    return texts_of_file(idf, "all", Reading())


@with_option_records
def shortcuts(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    *,
    part: Part,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    passes: Annotated[int, typer.Option(help="Edited texts that the model answers, at most; 100 or more.")] = 500,
    seed: Annotated[int, typer.Option(help="The seed of halves, draws and --sample.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was tested as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Take words, phrases, pairs and kinds of words out of all texts: does one of them decide a class's answers?"""
    check_outputs([html], [data])
    examples = reading.source(data, part.split).examples()
    classifier = pellucid.load(model, device=device)
    known = labelled(classifier, examples, reading, answers.need_labels)
    judged = pellucid.shortcuts(
        classifier, selected(classifier, known, amount, answers, seed), passes=passes, seed=seed
    )
    print(json.dumps(judged.record()) if as_json else judged)
    if html is not None:
        pellucid.report(judged, path=html)
        say(f"Written: {html}", aside=True)
