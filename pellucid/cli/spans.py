"""`pellucid spans MODEL TEXT…`: can the spans of a self-explaining model be believed?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.api.inputs.examples import reads_label
from pellucid.base.files import check_outputs
from pellucid.cli.options.data_options import Amount, Answers, Reading, TextOptions, Texts, labelled, selected
from pellucid.cli.options.option_records import with_option_records
from pellucid.cli.options.safe_text import say
from pellucid.results.heaviest_spans import analysed_heaviest


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
    random_spans: Annotated[
        int, typer.Option(min=1, help="How many random spans to compare each span with.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="The seed of the random spans and of --sample.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analyses as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Test the heaviest spans of each text: what each says by itself, how it moves the prediction, and what the model predicts from its words alone."""
    check_outputs([html], [source.file, *(texts or [])])  # reported before the work, not after it
    every = source.examples(texts or [], reading)
    classifier = pellucid.load(model, device=device)
    needed = answers.need_labels or reads_label(target)
    known = labelled(classifier, every, reading, needed)
    examples = selected(classifier, known, amount, answers, seed)
    analyses = pellucid.spans(classifier, examples, k, target=target, random_spans=random_spans, seed=seed)
    if html is not None:
        pellucid.report(analyses, path=html, title="What the spans say")
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
