"""`pellucid attention MODEL DATA`: may a model's weights be read as an explanation?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.attention.models import user_weights_in_file
from pellucid.base.catalogue import Choice
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.data_options import Amount, Answers, Part, Reading, labelled, selected
from pellucid.explaining.commands.option_records import choices_from, settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say


@with_option_records
def attention(
    model: Annotated[
        str, typer.Argument(help="A folder with a model that was trained with pooler additive, dot or span.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    *,
    part: Part,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    against: Annotated[
        list[str] | None,
        typer.Option(help="Another model with weights, tested on the same texts. May be repeated."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(help="Data to train the imitation adversary on; without it, that test does not run."),
    ] = None,
    tests: Annotated[str | None, typer.Option(help="Tests, with commas; default: all that can run.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of a test: test.name=value. May be repeated."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            help='Weights of yours to put in place of the model\'s: a file with a line {"id": …, "weights": […]} for each text.'
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of permutations and other draws, and of --sample.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Keep the work in this folder. After an interruption, run the same command again to go on."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the analysis to this JSON file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Test whether a model's weights may be read as an explanation: does the answer hang on them, and do they lie on what decides?"""
    check_outputs([save, html], [data, train, weights])  # reported before the work, not after it
    source = reading.source(data, part.split)
    loaded = [pellucid.load(one, device=device) for one in (model, *(against or []))]
    sources = (
        [model, *(against or [])] if train is not None else loaded
    )  # a folder's recipe trains the adversary
    first = loaded[0]
    examples = labelled(first, source.examples(), reading, answers.need_labels)
    training = None if train is None else replace(source, data=train, split="train").examples()
    analysis = pellucid.attention_analysis(
        sources[0],
        selected(first, examples, amount, answers, seed),
        against=sources[1:],
        train=None if training is None else list(labelled(first, training, reading, needed=True)),
        folder=out,
        tests=_tests(tests, setting or []),
        weights=None if weights is None else user_weights_in_file(weights),
        seed=seed,
    )
    if save is not None:
        analysis.save(save)
    if html is not None:
        pellucid.report(analysis, path=html)
    print(json.dumps(analysis.record()) if as_json else analysis)
    for path in filter(None, (out, save, html)):
        say(f"Written: {path}", aside=True)


def _tests(names: str | None, settings: list[str]) -> list[Choice] | None:
    if names is None and settings:
        raise BadSetting(
            "--set changes a test that --tests names; name the tests too: --tests permuted --set permuted.n_permutations=20."
        )
    return None if names is None else choices_from(names, settings_from(settings))
