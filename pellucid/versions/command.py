"""`pellucid diff A B`: what changed between the explanations of two versions of a model?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.base.checks import between, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.safe_text import say
from pellucid.versions.door import MOST_WORDS
from pellucid.versions.record import Difference
from pellucid.versions.terminal import floor_in_words

EXCEEDED = 1  # the exit status where a limit is exceeded


def diff(
    a: Annotated[
        Path,
        typer.Argument(
            help="Results of the first version that `pellucid explain --save` wrote (.parquet or .json), or a "
            "comparison's folder."
        ),
    ],
    b: Annotated[Path, typer.Argument(help="Results of the second version, of the same texts.")],
    *,
    twin: Annotated[
        list[Path] | None,
        typer.Option(
            help="Results of a twin, another training of the first version: how far two trainings differ by "
            "themselves. Repeat it for more."
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help="The method, where the results are of several methods.")] = None,
    top: Annotated[int, typer.Option(help="How many of a text's highest-scored words are compared.")] = 3,
    most_changed: Annotated[
        float | None,
        typer.Option(
            "--most-changed",
            "--most",
            help="End with status 1 where more than this share of the answers changed, 0 to 1.",
        ),
    ] = None,
    least_overlap: Annotated[
        float | None,
        typer.Option(help="End with status 1 where the mean overlap of words is below this, 0 to 1."),
    ] = None,
    beyond_twins: Annotated[
        bool,
        typer.Option("--beyond-twins", help="End with status 1 where B clearly differs more from A than every twin."),
    ] = False,
    resamples: Annotated[int, typer.Option(min=10, help="How many bootstrap draws each interval is made from.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the intervals.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a page of the texts side by side, worst first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all texts and means as JSON.")] = False,
) -> None:
    """Compare the explanations of the same texts under two versions of a model: answers and words that changed, worst
    first.
    """
    whole("--top", top, 1, MOST_WORDS)
    for name, limit in (("--most-changed", most_changed), ("--least-overlap", least_overlap)):
        if limit is not None:
            between(name, limit, 0, 1)
    if beyond_twins and not twin:
        raise BadSetting("--beyond-twins compares with twins, and none came; add --twin with a twin's saved results.")
    check_outputs([html], [a, b, *(twin or [])])  # reported before the work, not after it
    changes = pellucid.diff(a, b, twins=twin or (), method=method, k=top, resamples=resamples, seed=seed)
    exceeded = _exceeded(changes, most_changed, least_overlap, beyond_twins)
    if html is not None:
        pellucid.report(changes, path=html)
    print(json.dumps(changes.record() | {"exceeded": exceeded}) if as_json else str(changes).rstrip())
    if html is not None:
        say(f"Written: {html}", aside=True)
    for sentence in exceeded:
        say(sentence, aside=True)
    if exceeded:
        raise typer.Exit(EXCEEDED)


def _exceeded(
    changes: Difference, most_changed: float | None, least_overlap: float | None, beyond_twins: bool
) -> list[str]:
    """A sentence for each limit that is exceeded; raises `BadInput` where there is no number to be limited."""
    totals = changes.summary()
    changed, overlap = totals.means.changed.mean, totals.means.overlap.mean
    if most_changed is not None and changed != changed:
        raise BadInput(
            "--most-changed counts classes that changed, and this model gives values; give --least-overlap, or leave "
            "the option out."
        )
    if least_overlap is not None and overlap != overlap:
        raise BadInput(
            f"--least-overlap needs texts that both versions explain for one class and that have more than {totals.k} "
            f"words, and there is none; give longer texts, a smaller --top, or leave the option out."
        )
    sentences = []
    if most_changed is not None and changed > most_changed:
        sentences.append(f"Too many answers changed: {changed:.4g} of all, and --most-changed is {most_changed:g}.")
    if least_overlap is not None and overlap < least_overlap:
        sentences.append(f"Too few words in common: overlap {overlap:.4g}, and --least-overlap is {least_overlap:g}.")
    if beyond_twins and any(totals.is_beyond_twins.values()):
        sentences.append(floor_in_words(totals))
    return sentences
