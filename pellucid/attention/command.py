"""`pellucid attention MODEL DATA`: may a model's weights be read as an explanation? And its view in a terminal."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pellucid
from pellucid.base.catalogue import Choice
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.kinds import renderers
from pellucid.drawing.terminal import Line, block, caution_lines, indented, line, printed
from pellucid.drawing.wording import three
from pellucid.explaining.commands.data_options import Amount, Answers, Part, Reading, labelled, selected
from pellucid.explaining.commands.model_options import choices_from, settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from pellucid.attention.record import AttentionAnalysis, ModelAttention


@renderers.add(draws="attention analysis")
def terminal_attention_analysis(
    analysis: AttentionAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The verdict on each model with what it rests on, then every number with its interval.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    from pellucid.attention.unit_plots import evidence_in_words, summary_in_words, verdict_in_words

    first = analysis.models[0]
    lines: list[Line] = [line(verdict_in_words(first), style="bold"), line(summary_in_words(analysis))]
    lines += indented(map(evidence_in_words, first.verdict.evidence))
    lines += [line(verdict_in_words(model)) for model in analysis.models[1:]]
    lines += caution_lines(analysis.caveats)
    for model in analysis.models:
        lines += block(model.name, _numbers(model))
    return printed(lines, colour, width)


def _numbers(model: ModelAttention) -> list[str]:
    from pellucid.attention.layer_page import layers_in_words
    from pellucid.attention.page import curve_points
    from pellucid.attention.unit_plots import counts_in_words, line_name, ordered_lines, value_in_words

    points = [
        f"imitation adversary, λ = {at:g}: divergence of the weights {three(x)}, distance of the answers {three(y)}"
        for at, x, y in curve_points(model)
    ]
    shown = [
        f"{line_name(test_line)}: {value_in_words(test_line)}, n = {counts_in_words(test_line)}"
        for test_line in ordered_lines(model)
        if not math.isnan(test_line.value.mean)
    ]
    return [*shown, *points, *layers_in_words(model)]


@with_option_records
def attention(
    model: Annotated[
        str, typer.Argument(help="A folder or hub name: a model trained with a pooler, or any transformer classifier.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    *,
    part: Part,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    against: Annotated[
        list[str] | None, typer.Option(help="Another model with weights, tested on the same texts. May be repeated.")
    ] = None,
    train: Annotated[
        str | None, typer.Option(help="Data to train the imitation adversary on; without it, that test does not run.")
    ] = None,
    tests: Annotated[str | None, typer.Option(help="Tests, with commas; default: all that can run.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of a test: test.name=value. May be repeated.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            help='Weights of yours to put in place of the model\'s: a file with a line {"id": …, "weights": […]} for '
            "each text."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of permutations and other draws, and of --sample.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep the work in this folder. After an interruption, run the same command again to go on."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the analysis to this JSON file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Test whether a model's weights may be read as an explanation: does the answer hang on them, and do they lie on
    what decides?
    """
    from pellucid.attention.door import user_weights_in_file

    check_outputs([save, html], [data, train, weights])  # reported before the work, not after it
    source = reading.source(data, part.split)
    loaded = [pellucid.load(folder, device=device) for folder in (model, *(against or []))]
    sources = [model, *(against or [])] if train is not None else loaded  # a folder's recipe trains the adversary
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
        device=None if train is None else device,  # models in memory are where they shall compute
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
            "--set changes a test that --tests names; name the tests too: --tests permuted --set "
            "permuted.n_permutations=20."
        )
    return None if names is None else choices_from(names, settings_from(settings))
