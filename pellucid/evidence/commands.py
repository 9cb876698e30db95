"""The commands about evidence: `pellucid extract`, written as a data set of its own, and `spans`, can they be
believed?
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.files import check_outputs
from pellucid.base.json_text import json_digest
from pellucid.base.leases import Share, joined_by_slices, share_of
from pellucid.base.manifest import digest_inside
from pellucid.base.output_folder import OutputFolder, check_unwritten, is_damaged
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
from pellucid.explaining.commands.data_options import (
    Amount,
    Answers,
    Reading,
    Slice,
    TextOptions,
    Texts,
    labelled,
    selected,
)
from pellucid.explaining.commands.model_options import settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say
from pellucid.results.extraction import SEPARATOR
from pellucid.text.example import Example

if TYPE_CHECKING:
    from pellucid.evidence.extract import Extract, ExtractedParts

    Known = dict[str, tuple[int, Extract, str]]


@with_option_records
def extract(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder of parts.")],
    *,
    out: Annotated[Path, typer.Option(help="The folder to write to: train.jsonl, dev.jsonl and test.jsonl.")],
    slice_: Slice = None,
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
    from pellucid.drawing.terminal import progress_bar
    from pellucid.evidence.extract import UNFINISHED, ExtractedParts, extraction_of_parts
    from pellucid.results.extraction import extraction_in

    paths = {part: out / f"{part}.jsonl" for part in _parts(parts)}
    share = share_of(slice_)
    if not (slice_ or is_damaged(out) or (out / UNFINISHED).exists()):
        check_unwritten(paths.values())
    classifier = pellucid.load(model, device=device)
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
    models = {part: [] if like is None else load_examples(like, part) for part in paths}
    settings: dict[str, Any] = {
        "selection": selection,
        "budget": None if budget is None else budget_from(budget),
        "n_spans": n_spans,
        "within": within,
        "seed": seed,
        **settings_from(set_ or []),
    }
    read = [[_records(of_part) for of_part in examples_by_part.values()] for examples_by_part in (examples, models)]
    work = json_digest([classifier.hash, extractor, settings, separator, list(paths), read])
    files = OutputFolder(out, "extract", work, [path.name for path in paths.values()])
    there = ExtractedParts(out / UNFINISHED, work)
    with progress_bar(None) as show:
        extractions = {
            part: extraction_of_parts(
                classifier,
                of_part,
                extractor,
                like=None if like is None else [extraction_in(example) for example in models[part]],
                progress=show,
                **settings,
            )
            for part, of_part in examples.items()
        }
        known = {part: (len(of_part), extractions[part], separator) for part, of_part in examples.items()}
        lines = _written(files, there, known) if slice_ is None else _written_by_slices(files, there, known, share)
    for line in lines:
        say(line)
    if {"train", "dev"} <= set(paths):
        say(f"Train on it: pellucid train {out} --pooler first_token --out MODEL")


def _written(files: OutputFolder, there: ExtractedParts, known: Known) -> list[str]:
    """Write the parts that are missing, and join those of each file; returns a sentence a file.

    known: part of the data -> its number of texts, what extracts them, and the separator.
    """
    state, lines, remade = files.begin(), list[str](), list[str]()
    if not (state.damaged or there.is_begun()):
        check_unwritten(files.path / name for name in files.files)
    for part, (n_texts, extract_some, separator) in known.items():
        name = f"{part}.jsonl"
        if name in state.stamps and name not in state.damaged:  # of the same call, and as it was written
            continue
        before = digest_inside(files.path, name)
        summary = there.written(part, n_texts, extract_some, separator)
        remade += [name] if before not in (None, digest_inside(files.path, name)) else []
        lines.append(f"{part}: {summary}. Written: {files.path / name}")
    files.save(state)
    there.remove()
    files.end(state, [*there.damaged, *remade])
    return lines


def _written_by_slices(files: OutputFolder, there: ExtractedParts, known: Known, share: Share) -> list[str]:
    """The same, beside other slices that compute parts, too; whoever is last joins them, and others say nothing."""
    from pellucid.evidence.extract import parts_in

    numbered = [(part, index) for part, (n_texts, *_) in known.items() for index in range(parts_in(n_texts))]

    def compute(place: int) -> None:
        part, index = numbered[place]
        there.part(part, index, *known[part])

    there.is_begun()  # raises for another extraction
    with joined_by_slices(files.path, share, len(numbered), lambda place: there.has(*numbered[place]), compute):
        return [] if files.begin().is_whole else _written(files, there, known)


def _records(examples: Sequence[Example]) -> list[object]:
    from pellucid.results.explanation_record import example_record

    return [example_record(example) for example in examples]


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
