"""`pellucid explain MODEL TEXT…`: why did the model decide so?"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import pellucid
from pellucid.base.catalogue import ALL
from pellucid.base.checks import listed, one_of
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.kinds import renderers
from pellucid.explaining.commands.corpus_run import RunOptions, check_run, is_large, run_corpus, saved_by_run
from pellucid.explaining.commands.data_options import (
    Amount,
    Answers,
    ChatOptions,
    Reading,
    ShortcutPasses,
    TextOptions,
    Texts,
    labelled,
    selected,
)
from pellucid.explaining.commands.model_options import (
    LanguageOptions,
    MethodOptions,
    ModelOptions,
    choices_from,
    settings_from,
    with_option_records,
)
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pellucid.explaining.inputs.readings import ExplainedName
    from pellucid.results.explanation import Explanation
    from pellucid.results.shortcuts import Shortcuts
    from pellucid.results.side_by_side import SideBySide
    from pellucid.results.table import Table
    from pellucid.run.hidden_target import StateTarget
    from pellucid.run.model import Model
    from pellucid.run.readout import Positions

FEW = 5  # texts that are printed whole
FEWEST = 30  # texts of which it is asked whether one word decides


@with_option_records
def explain(
    model: Annotated[
        str,
        typer.Argument(
            help="A folder with a classifier, or with a model that writes; or the name of one on the Hugging Face Hub."
        ),
    ],
    texts: Texts = None,
    *,
    source: TextOptions,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    methods: MethodOptions,
    loading: ModelOptions,
    languages: LanguageOptions,
    run: RunOptions,
    chat: ChatOptions,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="The class to explain: predicted, gold (the label), or a class by name or number. Several labels of a "
            "text: all predicted, all, or the option once for each. Of a model that writes: a word, its number, all, "
            "or text for all words together. Default: predicted."
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Explain why the target and not this class, or this word.")
    ] = None,
    passage: Annotated[
        list[str] | None,
        typer.Option(
            help="A part of the first text that has one score, such as a passage that a search gave. May be repeated."
        ),
    ] = None,
    rest: Annotated[
        str, typer.Option(help="What stands between passages: a unit together, or its words: together, words.")
    ] = "together",
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A part of the texts that no method takes out, and that has no score. May be repeated."),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            help="At a text that cannot be explained: stop, or keep the others and say which failed. A run with --out "
            "keeps them (--max-failures)."
        ),
    ] = "stop",
    output: Annotated[str, typer.Option(help="The number to explain: logit, probability or loss.")] = "logit",
    layer: Annotated[
        str | None,
        typer.Option(
            help="Explain a hidden state of this layer instead of a class; 0 is the input of the first layer. all: of "
            "every layer. head: what the classification head reads."
        ),
    ] = None,
    positions: Annotated[
        str,
        typer.Option(
            help="Whose hidden state: pooled, first, last, the numbers of pieces, such as 1,2, or all side by side."
        ),
    ] = "pooled",
    part: Annotated[str | None, typer.Option(help="A part of the layer's state, where the model names parts.")] = None,
    concept: Annotated[
        int | None,
        typer.Option(
            help="Explain how much of a learnt concept the text has, by its number in the folder of --learnt."
        ),
    ] = None,
    learnt: Annotated[
        Path | None, typer.Option(help="The folder of learnt concepts that `concepts find --out` wrote, for --concept.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the method: name=value; with several methods: method.name=value. May be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of random methods and of --sample.")] = 0,
    shortcut_passes: ShortcutPasses = 500,
    full: Annotated[bool, typer.Option("--full", help="Print every text whole, however many there are.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    scale: Annotated[
        str,
        typer.Option(
            help="The colours of --html: page, one scale for all texts, or text, each text by its own strongest word."
        ),
    ] = "page",
    comparison: Annotated[
        Path | None,
        typer.Option(
            help="What pellucid compare saved of this model, its folder or table: --html then says first how far the "
            "method can be believed."
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Save the results to this file: .parquet or .json.")] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write a row a text, with its strongest words, to this .csv file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    workers: Annotated[
        int,
        typer.Option(
            min=1, help="Processes that explain groups of texts at once, each with its own copy of the model."
        ),
    ] = 1,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
    dtype: Annotated[
        str, typer.Option(help="The number type: float32, mixed_bfloat16, bfloat16, float16, float64 or auto.")
    ] = "float32",
) -> None:
    """Explain why a model classifies texts as it does: how much each word mattered."""
    from pellucid.explaining.inputs.examples import reads_label
    from pellucid.explaining.inputs.readings import default_method
    from pellucid.results.explanation_record import to_record

    if save is not None:
        from pellucid.results.storage import check_name

        check_name(save)
    if csv is not None and csv.suffix != ".csv":
        raise BadFile(f"--csv {csv} does not end in .csv; give such a name.")
    one_of("--scale", scale, ("page", "text"))
    written = [path for path in (save, html, csv) if path is not None]
    check_outputs(written, [source.file, *(texts or [])])  # reported before the work, not after it
    names, settings = methods.names(), settings_from(set_ or [])
    explained: ExplainedName
    if concept is not None or learnt is not None:
        explained = _concept(concept, learnt, {"--target": target, "--against": against, "--layer": layer})
    elif layer is None:
        explained = _target(target or ["predicted"], against)
    else:
        explained = pellucid.HiddenState(_layer(layer), _positions(positions), part)
    question = {"target": explained, "output": output, "seed": seed}
    named_for_run = {"methods": choices_from(",".join(names), settings)} if names else settings
    of_run = question | {"limit": amount.limit, "keep": keep or None} | named_for_run
    if run.is_wanted:
        others: dict[str, object] = {"a text": texts, "--second": source.second, "--methods all": ALL in (names or ())}
        others |= {
            "--passage": passage,
            "--sample": amount.sample,
            "--only": answers.only,
            "--html": html,
            "--on-error": on_error != "stop",
        }
        others |= {"--sort": answers != Answers(answers.only), "--csv": csv, "--json": as_json}
        data = check_run(source.file, others)
        classifier = pellucid.load(model, device=device, dtype=dtype, **asdict(loading), **asdict(languages))
        run_corpus(classifier, data, source.split, reading, run, of_run, workers, save)
        return
    one_of("--on-error", on_error, ("stop", "keep"))
    whole = not (passage or amount.sample or source.second or texts or on_error != "stop")
    plain = whole and answers == Answers() and ALL not in (names or ())
    by_run = plain and save is not None and is_large(source.file, source.split, reading, amount.limit)
    is_chat = chat != ChatOptions()
    examples = () if by_run or is_chat else source.examples(texts or [], reading)
    table = None if comparison is None else _comparison(comparison, html)
    classifier = pellucid.load(model, device=device, dtype=dtype, **asdict(loading), **asdict(languages))
    if by_run and save is not None and "writing" not in classifier.capabilities:
        views = bool(html or csv or as_json)
        saved = saved_by_run(classifier, str(source.file), source.split, reading, save, of_run, workers, views)
        if saved is None:
            return
        side_by_side = saved
    else:
        named = names or [default_method(classifier, explained, output)]
        known = labelled(
            classifier,
            examples or chat.examples(classifier, source, texts or [], reading),
            reading,
            answers.need_labels or reads_label(explained),
        )
        side_by_side = pellucid.explain_all(
            classifier,
            selected(classifier, known, amount, answers, seed),
            choices_from(",".join(named), settings),
            passages=passage,
            keep=keep or None,
            rest=rest,  # type: ignore[arg-type]  # checked there
            on_error="raise" if on_error == "stop" else "keep",
            workers=workers,
            **question,  # type: ignore[arg-type]  # checked where the target is made
        )
        by_run = False
    results = side_by_side.explanations
    first = next(iter(side_by_side.values()))
    shortcuts = _shortcuts(classifier, first, shortcut_passes if layer is None and concept is None else 0, seed)
    if save is not None and not by_run:
        pellucid.save(results, save)
    if html is not None:
        shown = first if len(side_by_side) == 1 else side_by_side
        pellucid.report(shown, table, path=html, scale=scale, shortcuts=shortcuts)  # type: ignore[arg-type]  # checked
    if csv is not None:
        pellucid.write_csv(results, csv)
    if as_json:
        print(json.dumps([to_record(result) for result in results]))
    else:
        _print(side_by_side, full, shortcuts)
    for path in written:
        say(f"Written: {path}", aside=True)


def _comparison(path: Path, html: Path | None) -> Table:
    """The table of a comparison; raises `BadSetting` for another file, and where no page is asked for."""
    from pellucid.results.table import TABLE_FILE, Table

    if html is None:
        raise BadSetting("--comparison is for the page of --html; name that, too, or leave --comparison away.")
    table = pellucid.read(path / TABLE_FILE if path.is_dir() else path)
    if not isinstance(table, Table):
        raise BadSetting(f"--comparison {path} holds no table of a comparison; give what pellucid compare saved.")
    return table


def _print(side_by_side: SideBySide, full: bool, shortcuts: Shortcuts) -> None:
    """One method's results; of several methods the texts side by side, or, of many texts, one method after the
    other.
    """
    n_texts = len(next(iter(side_by_side.values())))
    if len(side_by_side) > 1 and (full or n_texts <= FEW):
        print(side_by_side)
        return
    draw = renderers.get("terminal_results").make
    first = {"shortcuts": shortcuts}
    for title, results in side_by_side.items():
        if len(side_by_side) > 1:
            say(f"{title}:")
        print(draw(results, full=full, **first))
        first = {}  # it is of the model, and said once


def _shortcuts(model: Model, results: Sequence[Explanation], passes: int, seed: int) -> Shortcuts:
    """What decides by itself; nothing is asked of few texts, or of a model that writes, answers for places or
    gives a value.
    """
    from pellucid.results.shortcuts import NOTHING
    from pellucid.run.model import WRITING, answers_for_places

    has_no_classes = answers_for_places(model) or WRITING in model.capabilities or model.problem == "regression"
    if passes == 0 or len(results) < FEWEST or has_no_classes:
        return NOTHING
    return pellucid.shortcuts(model, results, passes=passes, seed=seed)


def _layer(text: str) -> int | Literal["all", "head"]:
    """A number, "all" or "head"; the target refuses other words."""
    return int(text) if re.fullmatch(r"-?\d+", text) else text  # type: ignore[return-value]


def _positions(text: str) -> Positions:
    """ "pooled", "first" or "last", or the numbers of pieces."""
    numbers = text.split(",")
    return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else text


def _concept(concept: int | None, learnt: Path | None, others: Mapping[str, object]) -> StateTarget:
    """A learnt concept's activation; raises `BadSetting` where half of it is named, or another target beside it."""
    if concept is None or learnt is None:
        raise BadSetting(
            "--concept names a concept of the folder that --learnt names; give both, such as --concept 3 --learnt "
            "runs/concepts."
        )
    if written := [name for name, value in others.items() if value is not None]:
        raise BadSetting(f"{listed(written)} and --concept are different targets; give one of them.")
    return pellucid.LearntConcepts.read(learnt).target(concept)


def _target(targets: list[str], against: str | None) -> ExplainedName:
    """A class, several, or a pair of classes if there is one to compare it with."""
    if len(targets) > 1 and against is not None:
        raise BadSetting("--against is the rival of one class; give --target once.")
    if len(targets) > 1:
        return list(targets)
    return targets[0] if against is None else (targets[0], against)
