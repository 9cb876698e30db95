"""What a reader must know before believing a comparison, in plain words."""

from collections.abc import Iterable, Sequence

from pellucid.base.catalogue import Call
from pellucid.results.table import CEILING
from pellucid.text.example import Example, annotators_of

FEW = 100
OPERATORS = {
    "absent": "left out while the others keep their places",
    "mask": "replaced by the mask token",
    "pad": "replaced by the padding token",
    "delete": "deleted",
}


def caveats(
    judged: Sequence[Call],
    left_out: Sequence[Call],
    examples: Sequence[Example],
    has_chance: bool,
) -> tuple[str, ...]:
    """Every caveat that applies, the most general first."""
    marked = sum(bool(annotators_of(example)) for example in examples)
    sentences: list[str] = []
    if len(examples) < FEW:
        count = _examples(len(examples))
        sentences.append(f"Only {count} judged: intervals are wide, and small differences may be luck.")
    if not has_chance:
        sentences.append("Chance was not judged, so no number here can be told from that of random scores.")
    sentences += _by_prediction(judged, examples)
    sentences += _unlike_training(judged)
    plausibility = [call.title for call in judged if call.entry.facts["judges"] == "plausibility"]
    if plausibility:
        sentences.append(_plausibility(plausibility, marked, len(examples)))
        sentences += _several_annotators(plausibility, examples)
    if left_out:
        sentences.append(
            f"Left out, because no example has marked evidence: {_listed(call.title for call in left_out)}."
        )
    return tuple(sentences)


def _unlike_training(judged: Sequence[Call]) -> list[str]:
    """One sentence for each operator in use: the model was not trained on edited texts."""
    by_operator: dict[str, list[str]] = {}
    for call in judged:
        if "operator" in call.settings:
            by_operator.setdefault(str(call.settings["operator"]), []).append(call.title)
    return [
        f"For {_listed(titles)} parts of the text are {OPERATORS.get(operator, 'changed')} (operator "
        f"“{operator}”); the model was not trained on such texts and may answer them oddly."
        for operator, titles in by_operator.items()
    ]


def _by_prediction(judged: Sequence[Call], examples: Sequence[Example]) -> list[str]:
    """One sentence where metrics go by the model's own answers although the examples have labels."""
    titles = [call.entry.name for call in judged if call.settings.get("reference") == "prediction"]
    if not titles or not any(example.label for example in examples):
        return []
    verb = "goes" if len(titles) == 1 else "go"
    return [
        f"Some labels are missing, or are no classes of the model, so {_listed(titles)} {verb} by the model's own "
        "predictions instead of the labels."
    ]


def _plausibility(titles: Sequence[str], marked: int, examples: int) -> str:
    verb = "measures" if len(titles) == 1 else "measure"
    share = "" if marked == examples else f" Only {marked} of {_examples(examples)} have such marks."
    few = " That is few: their intervals are wide." if marked < FEW <= examples else ""
    return (
        f"{_listed(titles)} {verb} agreement with the marks that people left in the texts, not whether the "
        f"model used those words.{share}{few}"
    )


def _several_annotators(titles: Sequence[str], examples: Sequence[Example]) -> list[str]:
    """What the row of the annotators is, where several people marked a text."""
    several = sum(len(annotators_of(example)) > 1 for example in examples)
    if not several:
        return []
    return [
        f"For {_listed(titles)}, methods are judged by each annotator, and averaged. The row “{CEILING}” judges each annotator by "
        f"the others, on the {_examples(several)} that several marked: how far people agree is the most that can be expected."
    ]


def _examples(count: int) -> str:
    return "1 example" if count == 1 else f"{count} examples"


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
