"""The commands about layers: `pellucid layers`, `concepts` and `lens`."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.packages import literals
from pellucid.explaining.commands.data_options import Amount, Reading, TextFiles, TextOptions
from pellucid.explaining.commands.model_options import settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say


@with_option_records
def layers(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Folders or hub names; further models are compared with the first. Trainings of one model with "
            "several seeds: their folders with commas between."
        ),
    ],
    *,
    source: TextOptions,
    reading: Reading,
    amount: Amount,
    method: Annotated[
        str, typer.Option(help="A method that gives scores a layer, such as grad_cam.")
    ] = "retained_information",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the method: name=value. May be repeated.")
    ] = None,
    which: Annotated[
        str, typer.Option("--layers", help="all, the number of one, or head: what the classification head reads.")
    ] = "all",
    positions: Annotated[
        str,
        typer.Option(
            help="Whose states: pooled, first, last, all, or numbers of pieces with commas (1,2). each: a row for the "
            "state at each step of a text, of a model that writes for each piece that it writes; the number of a layer "
            "in --layers goes with it."
        ),
    ] = "pooled",
    target: Annotated[
        str | None, typer.Option(help="The class to explain, for a method that explains classes.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of random methods and of --sample.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep the work in this folder. After an interruption, run the same command again to go on."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the analysis, with every score, to this JSON file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Show which words each layer of a model still uses, and which words a further model stopped using."""
    check_outputs([save, html], [source.file])  # reported before the work, not after it
    if source.file is None:
        raise BadInput("There are no texts; name them with --file FILE, one text a line, or a data file.")
    examples = source.examples([], reading)
    loaded = {
        name: [pellucid.load(folder, device=device) for folder in folders] for name, folders in _named(models).items()
    }
    first = next(iter(loaded.values()))[0]
    analysis = pellucid.layer_analysis(
        loaded,
        pellucid.select(first, examples, limit=amount.limit, sample=amount.sample, seed=seed),
        method,
        layers=_layers(which),
        positions=_positions(positions),
        target=target,
        seed=seed,
        out=out,
        **settings_from(setting or []),
    )
    if save is not None:
        analysis.save(save)
    if html is not None:
        pellucid.report(analysis, path=html)
    print(json.dumps(analysis.record()) if as_json else analysis)
    for path in filter(None, (out, save, html)):
        say(f"Written: {path}", aside=True)


def _named(models: list[str]) -> dict[str, list[str]]:
    """Each argument, by the last part of its path, with its folders: one, or with commas the trainings of one model."""
    named: dict[str, list[str]] = {}
    for argument in models:
        folders = [argument] if Path(argument).exists() else [folder for folder in argument.split(",") if folder]
        if not folders:
            raise BadInput(f"{argument!r} names no model; give a folder or a hub name.")
        name, count = Path(folders[0]).name or folders[0], 2
        while name in named:
            name, count = f"{Path(folders[0]).name} ({count})", count + 1
        named[name] = folders
    return named


def _layers(text: str) -> Any:  # "all", "head" or a number, as the door takes them
    if text in ("all", "head"):
        return text
    if not text.isascii() or not text.isdigit():
        raise BadSetting(f"--layers {text!r} is not possible; give all, head or the number of one layer.")
    return int(text)


def _positions(text: str) -> str | tuple[int, ...]:
    numbers = text.split(",")
    return tuple(map(int, numbers)) if all(part.isascii() and part.isdigit() for part in numbers) else text


# `pellucid concepts MODEL TEXT --word W --concepts FILE`: what does each layer hold of a word besides its concept?


def concepts(
    model: Annotated[str, typer.Argument(help="A folder or hub name with a classifier.")],
    text: Annotated[str, typer.Argument(help="One text.")],
    *,
    word: Annotated[
        str | None, typer.Option(help="A word of the text, as it stands there; asks what layers hold of it.")
    ] = None,
    learnt: Annotated[
        Path | None,
        typer.Option(
            help="In place of --word, the folder of `concepts find`: asks which of its concepts the text has."
        ),
    ] = None,
    start: Annotated[
        int | None, typer.Option(help="The character that it starts at, where it is there several times.")
    ] = None,
    concepts: Annotated[
        str, typer.Option(help="everyday (a small set of ours), or a file or folder of concepts.")
    ] = "everyday",
    name: Annotated[
        list[str] | None, typer.Option(help="A concept to read, again for more; needed for large knowledge bases.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="The most words of a concept.")] = 100,
    reader: Annotated[
        str | None, typer.Option(help="How to read the file: word_lists, concept_graph, dbpedia or wordnet.")
    ] = None,
    layer: Annotated[str, typer.Option(help="The number of a layer, or all.")] = "all",
    positions: Annotated[str, typer.Option(help="Which pieces' states: all, pooled, first or last.")] = "all",
    random_words: Annotated[int, typer.Option(min=2, help="How many random pieces stand for all words.")] = 200,
    seed: Annotated[int, typer.Option(help="The seed of the random pieces and of the noise.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Ask each layer what it holds of a word beyond concepts such as positive emotion: r = A of the word - A of the
    concept; or, with --learnt, which concepts of the model's own making a text has.
    """
    check_outputs([html], [concepts])  # reported before the work, not after it
    if (word is None) == (learnt is None):
        raise BadSetting(
            "Give --word W, a word of the text, to ask what layers hold of it, or --learnt FOLDER, made by `pellucid "
            "concepts find`, to ask which concepts the text has; one of the two."
        )
    if learnt is not None:
        of_words = {"--start": start, "--name": name, "--reader": reader}
        of_words |= {"--concepts": concepts != "everyday", "--most": most != 100, "--layer": layer != "all"}
        of_words |= {"--positions": positions != "all", "--random-words": random_words != 200, "--seed": seed}
        if written := [option for option, value in of_words.items() if value]:
            raise BadSetting(f"{listed(written)} belong to --word; with --learnt leave them away.")
        _learnt_concepts(pellucid.load(model, device=device), text, learnt, html, as_json)
        return
    assert word is not None
    if layer != "all" and not layer.isdecimal():
        raise BadSetting(f"--layer {quoted(layer)} is not possible; give a whole number, or all.")
    analysis = pellucid.concepts(
        pellucid.load(model, device=device),
        text,
        word,
        concepts,
        start=start,
        layer="all" if layer == "all" else int(layer),
        positions=positions,
        names=name or (),
        most=most,
        reader=reader,
        n_random=random_words,
        seed=seed,
    )
    if html is not None:
        pellucid.report(analysis, path=html)
    print(json.dumps(analysis.record()) if as_json else str(analysis).rstrip())
    if html is not None:
        say(f"Written: {html}", aside=True)


def _learnt_concepts(model: Any, text: str, learnt: Path, html: Path | None, as_json: bool) -> None:
    result = pellucid.text_concepts(model, text, learnt)
    if html is not None:
        pellucid.report(result, path=html)
    print(json.dumps(result.record()) if as_json else str(result).rstrip())
    if html is not None:
        say(f"Written: {html}", aside=True)


# `pellucid lens MODEL --texts FILE`: a language head for a model that has none.

DEFAULT = SimpleNamespace(**literals("pellucid.layers.lens_stage", "LensRecipe"))


@with_option_records
def lens(
    model: Annotated[
        str,
        typer.Argument(
            help="A folder with a classifier, a name on the Hugging Face Hub, or an encoder such as minilm."
        ),
    ],
    *,
    texts: Annotated[
        str, typer.Option(help="Plain texts: a file with one text a line, a data file, a folder, a data set's name.")
    ],
    out: Annotated[
        Path, typer.Option(help="The folder for the lens. After an interruption, run the same command again to go on.")
    ],
    on: Annotated[
        str | None,
        typer.Option(
            help="encoder: as it was before fine-tuning; classifier: as it is. Default: what MODEL plainly is."
        ),
    ] = None,
    files: TextFiles,
    head_steps: Annotated[int, typer.Option(min=1, help="Steps that train the head.")] = DEFAULT.head_steps,
    translator_steps: Annotated[
        int, typer.Option(min=1, help="Steps that train the translators of the layers.")
    ] = DEFAULT.translator_steps,
    batch_size: Annotated[
        int, typer.Option(min=1, help="How many texts, or parts of long ones, a step uses.")
    ] = DEFAULT.batch_size,
    sequence_length: Annotated[
        int, typer.Option(min=8, help="The most pieces of a part; longer texts are cut between words.")
    ] = DEFAULT.sequence_length,
    learning_rate: Annotated[float, typer.Option(help="The highest learning rate.")] = DEFAULT.learning_rate,
    dev_rows: Annotated[
        int, typer.Option(min=1, help="How many dev texts, or parts of long ones, the table is made of.")
    ] = DEFAULT.dev_rows,
    seed: Annotated[
        int, typer.Option(help="The seed of the head's first weights, of masks and of the order of texts.")
    ] = DEFAULT.seed,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Train a lens, which reads hidden states as words, for a model without a language head."""
    from pellucid.models.language_heads.lens_folder import RECORD

    trained = pellucid.lens(
        model,
        texts,
        out=out,
        on=on,
        format=files.format_,
        read=settings_from(files.read or [], "--read"),
        skip_bad_rows=files.skip_bad_rows,
        text=files.text_column,
        device=device,
        head_steps=head_steps,
        translator_steps=translator_steps,
        batch_size=batch_size,
        sequence_length=sequence_length,
        learning_rate=learning_rate,
        dev_rows=dev_rows,
        seed=seed,
    )
    print(trained.record.table.to_json() if as_json else trained.record.table)
    say(f"Trained on {trained.trained_on} {trained.record.model}. Written: {out / RECORD}", aside=True)
