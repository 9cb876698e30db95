"""`pellucid compare MODEL DATA`: which explanation can be trusted for this model?"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import pellucid
from pellucid.base.catalogue import Choice
from pellucid.base.checks import listed
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import metrics as known_metrics
from pellucid.base.leases import share_of
from pellucid.drawing.terminal import MINUTE, duration
from pellucid.explaining.commands.data_options import (
    Amount,
    Answers,
    DataOrNone,
    Part,
    Reading,
    Saved,
    Sharing,
    ShortcutPasses,
    examples_of,
    labelled,
    selected,
)
from pellucid.explaining.commands.model_options import (
    CheckOptions,
    LanguageOptions,
    MethodOptions,
    ModelOptions,
    choices_from,
    held_out,
    settings_from,
    with_option_records,
)
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pellucid.comparison.compared_part import ComparisonCost
    from pellucid.results.explanation import Explanation
    from pellucid.results.results import Results
    from pellucid.results.table import Table
    from pellucid.run.model import Model
    from pellucid.text.example import Example


@with_option_records
def compare(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: DataOrNone = None,
    *,
    saved: Saved,
    part: Part,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    methods: MethodOptions,
    loading: ModelOptions,
    languages: LanguageOptions,
    checking: CheckOptions,
    metrics: Annotated[str | None, typer.Option(help="Metrics, with commas; default: all usual ones.")] = None,
    metric_set: Annotated[
        list[str] | None, typer.Option(help="A setting of a metric: metric.name=value. May be repeated.")
    ] = None,
    target: Annotated[
        str, typer.Option(help="The class to explain: predicted, gold (the label), or a class by name or number.")
    ] = "predicted",
    seed: Annotated[int, typer.Option(help="The seed of random methods, of the intervals and of --sample.")] = 0,
    equal_time: Annotated[
        float | None,
        typer.Option(
            help="Seconds for a text: each method that samples, or steps along a path, runs the model as often as "
            "fits. A few texts are timed first; the counts stand in the table."
        ),
    ] = None,
    resamples: Annotated[int, typer.Option(min=10, help="How many bootstrap draws each interval is made from.")] = 1000,
    shortcut_passes: ShortcutPasses = 500,
    learnt: Annotated[
        Path | None,
        typer.Option(
            help="In place of methods, judge the learnt concepts of this folder of `concepts find`, each number beside "
            "chance."
        ),
    ] = None,
    by_metric: Annotated[
        str | None, typer.Option(help="The metric whose best method comes first; default: methods as they were named.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Save everything to this folder. After an interruption, run the same command again to go on."
        ),
    ] = None,
    sharing: Sharing,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the table to this JSON file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Measure how good the explanation methods are on a data set: is each faithful to the model, and better than
    chance?
    """
    if learnt is not None:
        unused: dict[str, object] = {
            "--explained": saved.explained,
            "--method or --methods": methods != MethodOptions(),
        }
        unused |= {"--checks and what goes with it": checking != CheckOptions(), "--metrics": metrics}
        unused |= {"--metric-set": metric_set, "--target": target != "predicted", "--resamples": resamples != 1000}
        unused |= {"--equal-time": equal_time}
        unused |= {"--by-metric": by_metric, "--out": out, "--save": save}
        unused |= {"--workers, --slice, --engine, --address, --reuse or --estimate": sharing != Sharing()}
        _refuse([option for option, value in unused.items() if value], data)
        check_outputs([html], [data])
        classifier = pellucid.load(model, device=device, **asdict(loading), **asdict(languages))
        judging = reading.source(str(data), part.split)
        labelled_texts = labelled(classifier, judging.examples(), reading, answers.need_labels)
        judged, _ = held_out(classifier, labelled_texts, judging)
        _judge_concepts(classifier, selected(classifier, judged, amount, answers, seed), learnt, seed, html, as_json)
        return
    from pellucid.base.catalogue import ALL
    from pellucid.comparison.folder import TABLE
    from pellucid.comparison.trust_card import texts_needed
    from pellucid.corpus.slices import crew_of
    from pellucid.explaining.inputs.examples import reads_label

    check_outputs([save, html], [data, saved.explained, checking.train, *(checking.corpus or [])])
    if equal_time is not None and (out is not None or saved.explained is not None):
        raise BadSetting(
            "--equal-time times the methods anew in each call, so --out could not go on, and what --explained names "
            "was computed before; leave --equal-time away, or these."
        )
    if by_metric is not None:
        known_metrics.get(by_metric.partition("(")[0])
    names, judges = methods.names(), _metrics(metrics, metric_set)
    source = None if data is None else reading.source(data, part.split)
    explained = saved.results()
    examples = examples_of(source, explained)
    classifier = pellucid.load(model, device=device, **asdict(loading), **asdict(languages))
    needed = answers.need_labels or reads_label(target)
    judged, _ = held_out(classifier, labelled(classifier, examples, reading, needed), source)
    training = None if checking.train is None else reading.source(checking.train, "train").examples()
    texts = selected(classifier, judged, amount, answers, seed)
    method_names: Sequence[Choice] | None = None if names == [ALL] else names
    if equal_time is not None:
        method_names = pellucid.at_equal_time(classifier, texts, method_names, seconds=equal_time, seed=seed)
    if sharing.estimate or out is None or not (out / TABLE).exists():
        cost = pellucid.compare_cost(
            classifier,
            texts,
            method_names,
            judges,
            explained=explained,
            target=target,
            checks=checking.choices(),
            twins=checking.twin or (),
            train=training,
            corpora=checking.corpus or (),
            reuse=sharing.reuse,
        )
        if sentence := texts_needed(len(texts)):  # after what is refused
            say(sentence, aside=True)
        if sharing.estimate:
            share_of(sharing.slice_)
            crew_of(classifier, sharing.workers, sharing.with_settings, sharing.slice_, out or Path())
            say(_estimate(cost, len(texts), sharing.workers))
            return
        say_cost(cost)
    table = pellucid.compare(
        classifier,
        texts,
        method_names,
        judges,
        explained=explained,
        target=target,
        seed=seed,
        resamples=resamples,
        checks=checking.choices(),
        twins=checking.twin or (),
        corpora=checking.corpus or (),
        train=None if training is None else list(labelled(classifier, training, reading, needed=True)),
        folder=out,
        shortcut_passes=shortcut_passes,
        workers=sharing.workers,
        slice=sharing.slice_,
        engine=sharing.with_settings,
        reuse=sharing.reuse,
    )
    table = table if by_metric is None else table.by(by_metric)
    if save is not None:
        table.save(save)
    if html is not None:
        from pellucid.drawing.comparison_section import TITLE

        pellucid.report(_examples(classifier, texts, table, explained), table, path=html, title=TITLE)
    print(json.dumps(nan_as_none(asdict(table))) if as_json else table)
    for path in filter(None, (out, save, html)):
        say(f"Written: {path}", aside=True)


def _refuse(options: Sequence[str], data: str | None) -> None:
    """Raise for options that have nothing to do with learnt concepts, and where no data are named."""
    if options:
        raise BadSetting(f"{listed(options)} belong to methods; with --learnt leave them away.")
    if data is None:
        raise BadInput("There are no texts to judge the concepts on; name data after the model.")


def _judge_concepts(
    model: Model, texts: Sequence[Example], learnt: Path, seed: int, html: Path | None, as_json: bool
) -> None:
    judged = pellucid.judge_concepts(model, texts, learnt, seed=seed)
    if html is not None:
        pellucid.report(judged, path=html)
    print(json.dumps(judged.record()) if as_json else str(judged).rstrip())
    if html is not None:
        say(f"Written: {html}", aside=True)


def _examples(model: Model, texts: Sequence[Example], table: Table, explained: Sequence[Explanation] | None) -> Results:
    """Three texts by the method that the comparison recommends, else by its first one: a clear answer, a sure mistake,
    an unsure answer. explained: the texts as they were saved, whose answers are at hand.
    """
    from pellucid.explaining.views.opening import telling_texts

    recommended = table.card.recommended if table.card is not None else ()
    title = (*recommended, *table.methods)[0]
    settings = cast("Mapping[str, Mapping[str, Any]]", table.about["methods"])[title]
    answers = {saved.example.segments: saved.prediction for saved in explained or ()}
    known = all(text.segments in answers for text in texts)
    each = [answers[text.segments] for text in texts] if known else pellucid.predict(model, texts, progress=False)
    shown = telling_texts(each, texts)
    name, bracket, _ = title.partition("(")
    return pellucid.explain(model, shown, name, progress=False, **(settings if bracket else {}))


def _metrics(metrics: str | None, pairs: list[str] | None) -> list[Choice] | None:
    """The metrics with their settings; None where none was named."""
    if metrics is None and pairs:
        raise BadSetting(
            "--metric-set changes a metric that --metrics names; name it too: --metrics comprehensiveness --metric-set "
            "comprehensiveness.operator=delete."
        )
    option = "--metric-set"
    return None if metrics is None else choices_from(metrics, settings_from(pairs or [], option), option, "metric")


# What a comparison will cost, said before its work begins.


def _estimate(cost: ComparisonCost | None, n_texts: int, workers: int) -> str:
    """What --estimate says."""
    from pellucid.corpus.estimate import START

    if cost is None:
        return f"At most {n_texts} texts are too few for an estimate: a trial would be a large part of the work."
    busy = min(workers, os.cpu_count() or 1)
    seconds = (cost.seconds - cost.check_seconds) / busy + cost.check_seconds + (START if workers > 1 else 0)
    several = "" if workers == 1 else "s"
    return (
        f"{cost.texts:,} texts by {workers} worker{several}: about {duration(seconds)}, {cost.evaluations:,} "
        f"evaluations of edited texts; judged by {cost.tried} texts."
        + "".join(f" How long {name} will train is not in it." for name in cost.unknown)
    )


def say_cost(cost: ComparisonCost | None) -> None:
    """Print the cost of work of more than a minute to standard error."""
    if cost is not None and (cost.seconds > MINUTE or cost.unknown):
        checks = f", {duration(cost.check_seconds)} of it for checks" if cost.check_seconds > MINUTE else ""
        unknown = f" How long {' and '.join(cost.unknown)} will train is not in it." if cost.unknown else ""
        say(
            f"This will take about {duration(cost.seconds)}{checks}: {cost.texts:,} texts and about "
            f"{cost.evaluations:,} evaluations of edited texts, judged by a trial with {cost.tried} texts.{unknown} "
            f"--sample N compares N of them.",
            aside=True,
        )
