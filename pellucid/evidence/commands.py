"""The commands about evidence: `pellucid extract`, written as a data set of its own, and `spans`, can they be
believed?
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.leases import share_of
from pellucid.base.output_folder import check_unwritten, is_damaged
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
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
from pellucid.explaining.commands.model_options import settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say
from pellucid.results.extraction import SEPARATOR


@with_option_records
def extract(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder of parts.")],
    *,
    out: Annotated[Path, typer.Option(help="The folder to write to: train.jsonl, dev.jsonl and test.jsonl.")],
    sharing: Sharing,
    extractor: Annotated[
        str,
        typer.Option(
            help="What scores the words: span_attention, average_gradient, random_span, …, or any attribution method."
        ),
    ] = "span_attention",
    selection: Annotated[
        str | None,
        typer.Option(
            help="How scores become spans: literal, same_length, budget, best_words, max_sum_centred, above_half, "
            "enough, top_spans. Default: the extractor's own, or what --budget, --like or --within implies."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="How much to select: a share of a text's words (0.2), or a number of words (5)."),
    ] = None,
    n_spans: Annotated[int, typer.Option(min=1, help="How many spans of each text to select at most.")] = 1,
    like: Annotated[
        Path | None,
        typer.Option(help="A folder that `extract` wrote for the same texts: select spans of the same lengths."),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            help="Select the best words that, read alone, give the class of the whole text with a probability at most "
            "so far from its own, 0 to 1."
        ),
    ] = None,
    parts: Annotated[str, typer.Option(help="The parts of the data to read, with commas.")] = ",".join(PARTS),
    separator: Annotated[str, typer.Option(help="What is written between the spans of a text.")] = SEPARATOR,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the extractor: name=value. May be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of random extractors and of --sample.")] = 0,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Write the evidence of each text as a data set that `pellucid train` reads."""
    from pellucid.corpus.slices import crew_of
    from pellucid.drawing.terminal import progress_bar
    from pellucid.evidence.extracted_parts import UNFINISHED, ExtractionWork

    paths = {part: out / f"{part}.jsonl" for part in _parts(parts)}
    share = None if sharing.slice_ is None else share_of(sharing.slice_)
    if not (share or is_damaged(out) or (out / UNFINISHED).exists()):
        check_unwritten(paths.values())
    classifier = pellucid.load(model, device=device)
    crew = crew_of(classifier, sharing.workers, sharing.with_settings, sharing.slice_, out)
    examples = {
        part: selected(
            classifier,
            labelled(classifier, reading.source(data, part).training_part(), reading, answers.need_labels),
            amount,
            answers,
            seed,
        )
        for part in paths
    }
    settings: dict[str, Any] = {
        "selection": selection,
        "budget": None if budget is None else budget_from(budget),
        "n_spans": n_spans,
        "within": within,
        "seed": seed,
        **settings_from(set_ or []),
    }
    likes = None if like is None else {part: load_examples(like, part) for part in paths}
    work = ExtractionWork(examples, likes, extractor, settings, separator, out, classifier.hash, sharing.reuse)
    if sharing.reuse is not None:
        n_texts = sum(map(len, examples.values()))
        say(f"{work.n_copied:,} of {n_texts:,} texts are copied from {sharing.reuse}.", aside=True)
    if sharing.estimate:
        say(str(work.cost(classifier, sharing.workers)))
        return
    with progress_bar(None) as show:
        lines = work.written(classifier, share, crew, show)
    for line in lines:
        say(line)
    if {"train", "dev"} <= set(paths):
        say(f"Train on it: pellucid train {out} --pooler first_token --out MODEL")


def _parts(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    strange = [name for name in names if name not in PARTS]
    if strange:
        raise BadSetting(f"--parts {strange[0]!r} is no part; give some of {', '.join(PARTS)}.")
    return names


def budget_from(text: str) -> float:
    """A whole number is a number of words; any other number is a share of a text's words."""
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise BadSetting(f"--budget {text!r} is no number; write a share such as 0.2, or words such as 5.") from None


# `pellucid spans MODEL TEXT…`: can the spans of a self-explaining model be believed?


@with_option_records
def spans(
    model: Annotated[str, typer.Argument(help="A folder with a self-explaining classifier.")],
    texts: Texts = None,
    *,
    source: TextOptions,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    k: Annotated[int, typer.Option(min=1, help="How many spans of each text to test, heaviest first.")] = 3,
    target: Annotated[
        str,
        typer.Option(help="The class to explain: predicted, gold (the label), or a class by name or number."),
    ] = "predicted",
    random_spans: Annotated[int, typer.Option(min=1, help="How many random spans to compare each span with.")] = 10,
    seed: Annotated[int, typer.Option(help="The seed of the random spans and of --sample.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analyses as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Test the heaviest spans of each text: what each says by itself, how it moves the prediction, and what the model
    predicts from its words alone.
    """
    from pellucid.explaining.inputs.examples import reads_label
    from pellucid.results.heaviest_spans import analysed_heaviest

    check_outputs([html], [source.file, *(texts or [])])  # reported before the work, not after it
    every = source.examples(texts or [], reading)
    classifier = pellucid.load(model, device=device)
    needed = answers.need_labels or reads_label(target)
    known = labelled(classifier, every, reading, needed)
    examples = selected(classifier, known, amount, answers, seed)
    analyses = pellucid.spans(classifier, examples, k, target=target, random_spans=random_spans, seed=seed)
    if html is not None:
        pellucid.report(analyses, path=html)
    if as_json:
        print(json.dumps([analysis.record() for analysis in analyses]))
    else:
        for analysis in analyses:
            print(analysis)
    heaviest = analysed_heaviest(analyses)
    if heaviest.texts > 1:
        for line in (heaviest.in_words(), *(f"Caution: {caution}" for caution in heaviest.cautions())):
            say(line, aside=as_json)
    if html is not None:
        say(f"Written: {html}", aside=True)
