"""The commands about attacks: `pellucid attack`, which small edits change the answer, and `blind-sheet`, what people
judged of them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pellucid
from pellucid.base.checks import percent
from pellucid.base.errors import BadInput, BadSetting, Notice
from pellucid.base.files import check_folder, check_new, check_outputs
from pellucid.base.json_text import nan_as_none
from pellucid.explaining.commands.data_options import (
    Amount,
    Answers,
    Reading,
    Sharing,
    TextOptions,
    Texts,
    labelled,
    selected,
)
from pellucid.explaining.commands.model_options import (
    choices_from,
    listed,
    settings_from,
    with_option_records,
)
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from pellucid.attacks.attack_case import Attempt
    from pellucid.attacks.blind_sheet import SheetScores
    from pellucid.attacks.record import Attempts
    from pellucid.corpus.estimate import CorpusCost
    from pellucid.text.example import Example


@with_option_records
def attack(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    texts: Texts = None,
    *,
    source: TextOptions,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    attack_: Annotated[
        str,
        typer.Option("--attack", help="The attack, or several with commas, or all; `pellucid attacks` lists them."),
    ] = "pwws",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the attack: name=value; of several attacks: attack.name=value. May be repeated.",
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            help="flip, any other class; the class that the model shall predict; value, label or explanation."
        ),
    ] = "flip",
    goal_set: Annotated[
        list[str] | None,
        typer.Option("--goal-set", help="A setting of the goal: name=value, such as distance=0.5. May be repeated."),
    ] = None,
    max_queries: Annotated[
        int | None,
        typer.Option(
            help="At most so many edited texts are given to the model for each text, the order included; an order by "
            "another method than occlusion is paid in full."
        ),
    ] = None,
    extractor: Annotated[str | None, typer.Option(help="What finds the spans of attacks on spans.")] = None,
    order_from: Annotated[
        str | None,
        typer.Option(help="Saved explanations of the same texts, whose scores order the edits (.parquet, .json)."),
    ] = None,
    spans_from: Annotated[
        Path | None,
        typer.Option(help="Spans of the same texts that `pellucid extract` wrote (.jsonl), to be edited."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            help="Labelled texts, a file or the name of a data set, in which the candidates named_entities count names."
        ),
    ] = None,
    wordnet: Annotated[
        Path | None, typer.Option(help="The folder with WordNet's files. Default: the installed one.")
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="A text file of word vectors, such as GloVe's, for the candidates neighbours. Default: the model's "
            "own."
        ),
    ] = None,
    pivots: Annotated[
        str | None,
        typer.Option(
            help="Languages of back-translation by rules, with commas: spanish, catalan, galician. Default: spanish, "
            "or none with --translators."
        ),
    ] = None,
    translators: Annotated[
        str | None,
        typer.Option(
            help="Two models with a comma between them: one translates a text, the other its translation back."
        ),
    ] = None,
    n_best: Annotated[int, typer.Option(help="How many translations of a text are translated back.")] = 1,
    seed: Annotated[int, typer.Option(help="The seed of random parts and of --sample.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder that keeps the attempts; the same command goes on after an interruption."),
    ] = None,
    sharing: Sharing,
    html: Annotated[Path | None, typer.Option(help="Write a page of the texts before and after.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the edited texts that fooled the model as data (.jsonl).")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(
            help="Write the fooled texts for people to judge (.csv), and beside it the key (.key.json): see `pellucid "
            "blind-sheet`. Files that exist are refused."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print attempts and summaries as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Edit few words of a text, or one span, until the model's answer changes: how easily is it fooled?"""
    from pellucid.attacks.record import Attempts

    written = [path for path in (html, save, sheet) if path is not None]
    check_outputs(written, [source.file, train, order_from, spans_from, vectors, *(texts or [])])
    if sheet is not None:
        check_new(sheet, sheet.with_suffix(".key.json"))
    if out is not None:
        check_folder(out)
    classifier = pellucid.load(model, device=device)
    examples = labelled(classifier, source.examples(texts or [], reading), reading, answers.need_labels)
    some = selected(classifier, examples, amount, answers, seed)
    calls = _calls(attack_, set_ or [])
    train_examples = None
    if train is not None:
        train_texts = reading.source(train, "train").examples()
        train_examples = list(labelled(classifier, train_texts, reading, needed=True))
    goal_settings = settings_from(goal_set or [], "--goal-set")
    ask = partial(
        pellucid.attack,
        classifier,
        goal=(goal, goal_settings) if goal_settings else goal,
        max_queries=max_queries,
        extractor=extractor,
        order_from=order_from,
        spans_from=spans_from,
        train=train_examples,
        wordnet=wordnet,
        vectors=vectors,
        pivots=listed(pivots),
        translators=None if translators is None else listed(translators),
        n_best=n_best,
        seed=seed,
        reuse=sharing.reuse,
    )
    if sharing.estimate:
        for name, settings in calls:
            tried = partial(ask, attack=name, progress=False, **settings)
            say(f"{name}: {_cost(tried, some, sharing.workers)}")
        return
    attempts: list[Attempt] = []
    for position, (name, settings) in enumerate(calls, 1):
        if len(calls) > 1:
            say(f"{name}, attack {position} of {len(calls)}", aside=True)
        attempts += ask(
            some,
            name,
            folder=out,
            slice=sharing.slice_,
            workers=sharing.workers,
            engine=sharing.with_settings,
            **settings,
        )
    results = Attempts(attempts)
    if html is not None:
        pellucid.report(results, path=html, about={"model": model})
    if save is not None:
        pellucid.write_json_lines(results.examples(), save)
    if sheet is not None and not results.successes():
        say("No text fooled the model, so no sheet is written.", aside=True)
        written.remove(sheet)
    elif sheet is not None:
        key = sheet.with_suffix(".key.json")
        pellucid.write_blind_sheet(results, sheet, key, seed=seed)
        written.append(key)
    print(json.dumps(results.record()) if as_json else str(results).rstrip())
    for path in [*([] if out is None else [out]), *written]:
        say(f"Written: {path}", aside=True)
    _refuse_idle(results, max_queries)


def _cost(tried: Callable[..., Attempts], texts: Sequence[Example], workers: int) -> CorpusCost:
    """What an attack will cost, from some of the texts."""
    from pellucid.corpus.estimate import characters, trial_cost

    def run(some: Sequence[Example]) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)  # of a few texts
            return sum(attempt.queries for attempt in tried(examples=some))

    return trial_cost(texts, characters, workers, run)


def _calls(names: str, settings: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Each attack once, with its settings."""
    every = ",".join(entry["name"] for entry in pellucid.attack_list()) if names == "all" else names
    calls = choices_from(every, settings_from(settings), kind="attack")
    return [(call, {}) if isinstance(call, str) else (call[0], dict(call[1])) for call in calls]


def _refuse_idle(results: Attempts, max_queries: int | None) -> None:
    """Raise where no attempt came as far as to try an edit: what was printed says nothing about the model."""
    attacked = [result for result in results if result.is_attacked]
    endings = {attempt.ending for attempt in attacked}
    texts = len({attempt.example.segments for attempt in attacked})
    if endings == {"nothing to edit"}:
        raise BadInput(
            f"Nothing in {_texts(texts)} may be edited: no word or span has a replacement that the guards let through; "
            f"give other texts, or another attack."
        )
    if endings == {"budget"} and not any(attempt.edits for attempt in attacked):
        if all(attempt.goal.startswith("explanation") for attempt in attacked):
            raise BadSetting(
                f"--max-queries {max_queries} is used up before a word is edited in {_texts(texts)}: explaining a text "
                f"once takes more; give more."
            )
        raise BadSetting(
            f"--max-queries {max_queries} is used up by the order alone in {_texts(texts)}, before a word is edited; "
            f"give more, or --attack random, whose order asks nothing."
        )


def _texts(count: int) -> str:
    return "the text" if count == 1 else f"the {count} texts"


# `pellucid blind-sheet SHEET… --key KEY`: what people judged of the texts that fooled a model.


def blind_sheet(
    sheets: Annotated[
        list[Path],
        typer.Argument(help="Sheets that `pellucid attack --sheet` wrote, filled in; one a person."),
    ],
    key: Annotated[Path, typer.Option(help="The key that was written beside the sheet (.json).")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score what people judged on the sheets of an attack: do the texts that fooled the model still say the same?"""
    scores = pellucid.read_blind_sheets(sheets, key)
    if as_json:
        print(json.dumps([nan_as_none(asdict(score)) for score in scores]))
        return
    for score in scores:
        print(_line(score))


def _line(scores: SheetScores) -> str:
    if not scores.n_judged:
        return f"{scores.attack}: none of {scores.n_texts:,} texts is judged"
    label, meaning = scores.same_label, scores.same_meaning
    parts = [
        f"{scores.attack}: {scores.n_judged:,} judgements of {scores.n_texts:,} texts; the label stays in "
        f"{percent(label.mean)} [{percent(label.low)}, {percent(label.high)}]"
    ]
    if meaning.mean == meaning.mean:
        parts.append(f"meaning {meaning.mean:.1f} of 5")
    if scores.agreement == scores.agreement:
        parts.append(f"people agree in {percent(scores.agreement)}")
    return "; ".join(parts)
