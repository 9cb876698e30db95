"""`pellucid concepts find MODEL DATA --layer N`: which concepts has a model made itself?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.data_options import Amount, Reading, labelled
from pellucid.explaining.commands.model_options import with_option_records
from pellucid.explaining.commands.safe_text import say


@with_option_records
def concepts_find(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    *,
    layer: Annotated[int, typer.Option(help="Whose states: from 0, the first block's input, to the number of blocks.")],
    n: Annotated[int, typer.Option("--n", min=2, help="How many concepts.")] = 20,
    method: Annotated[str, typer.Option(help="How they are found: nmf, ica, kmeans or svd.")] = "nmf",
    level: Annotated[str, typer.Option(help="What a state is of: a word, a piece or a whole text.")] = "word",
    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "train",
    reading: Reading,
    amount: Amount,
    most_states: Annotated[
        int, typer.Option(min=10, help="How many states, drawn at random from all texts, they are found in.")
    ] = 30_000,
    n_texts: Annotated[
        int, typer.Option(min=2, help="In how many texts, drawn at random, concepts are taken out.")
    ] = 50,
    language_head: Annotated[
        str | None,
        typer.Option(
            help="What reads states back as words: the checkpoint that the model was made from, or a lens folder. "
            "Concepts then show which words become likelier along them."
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            help="Your own concepts: everyday (a small set of ours), or a file of lines such as `time: year, day`. "
            "Learnt concepts then show which of them they are near to."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the search, of draws, of shuffles and of --sample.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Keep states and concepts in this folder. After an interruption, run the same command again to go on."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the concepts as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Find the concepts that a model has made itself, name them, and test whether its answers depend on them."""
    check_outputs([html], [data, beside])  # reported before the work, not after it
    classifier = pellucid.load(model, device=device, language_head=language_head)
    examples = labelled(classifier, reading.source(data, split).examples(), reading, False)
    texts = pellucid.select(classifier, examples, limit=amount.limit, sample=amount.sample, seed=seed)
    concepts = pellucid.find_concepts(
        classifier,
        texts,
        layer,
        n=n,
        method=method,
        level=level,  # type: ignore[arg-type]  # checked there
        most_states=most_states,
        n_texts=n_texts,
        beside=beside,
        seed=seed,
        out=out,
    )
    if html is not None:
        pellucid.report(concepts, path=html)
    print(json.dumps(concepts.record()) if as_json else str(concepts).rstrip())
    for path in filter(None, (out, html)):
        say(f"Written: {path}", aside=True)
