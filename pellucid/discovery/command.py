"""`pellucid concepts find MODEL DATA --layer N`: which concepts has a model made itself?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.checks import quoted
from pellucid.base.errors import BadSetting
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
    layer: Annotated[
        list[str],
        typer.Option(
            help="Whose states: from 0, the first block's input, to the number of blocks. Given again, or all: which "
            "concepts of a layer go on in the next one."
        ),
    ],
    n: Annotated[int, typer.Option("--n", min=2, help="How many concepts.")] = 20,
    method: Annotated[
        str,
        typer.Option(
            help="How they are found: nmf, semi_nmf, ica, kmeans, svd, sae, sae_batch_top_k or sae_jump_relu."
        ),
    ] = "nmf",
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
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write how much of each concept every text has to this .parquet file, a row a text and concept."
        ),
    ] = None,
    rows: Annotated[str, typer.Option(help="What a row of --save is of: text or word.")] = "text",
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the concepts as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Find the concepts that a model has made itself, name them, and test whether its answers depend on them."""
    check_outputs([html, save], [data, beside])  # reported before the work, not after it
    layers = _layers(layer)
    if save is not None and (save.suffix != ".parquet" or not isinstance(layers, int)):
        raise BadSetting(
            f"--save {save} is for the concepts of one --layer; give one, and a name that ends in .parquet."
        )
    classifier = pellucid.load(model, device=device, language_head=language_head)
    examples = labelled(classifier, reading.source(data, split).examples(), reading, False)
    texts = pellucid.select(classifier, examples, limit=amount.limit, sample=amount.sample, seed=seed)
    how: dict[str, Any] = {"n": n, "method": method, "level": level, "most_states": most_states}
    how |= {"n_texts": n_texts, "beside": beside, "seed": seed, "out": out}
    if isinstance(layers, int):
        concepts: Any = pellucid.find_concepts(classifier, texts, layers, **how)
        if save is not None:
            pellucid.concept_activations(classifier, texts, concepts, save, rows=rows)  # type: ignore[arg-type]
    else:
        concepts = pellucid.concept_map(classifier, texts, layers, **how)
    if html is not None:
        pellucid.report(concepts, path=html)
    print(json.dumps(concepts.record()) if as_json else str(concepts).rstrip())
    for path in filter(None, (out, save, html)):
        say(f"Written: {path}", aside=True)


def _layers(words: list[str]) -> Any:  # a number, several, or "all", as the doors take them
    if words == ["all"]:
        return "all"
    if bad := [word for word in words if not (word.isascii() and word.isdigit())]:
        raise BadSetting(
            f"--layer {quoted(bad[0])} is not possible; give the number of a layer, several times for more, or all."
        )
    return int(words[0]) if len(words) == 1 else [int(word) for word in words]
