"""The page of the study of layers."""

from collections.abc import Mapping
from typing import Any

from studies.s3_layers.models import PRETRAINED
from studies.s3_layers.numbers import X0
from studies.s3_layers.rescaling import FACTOR
from studies.s3_layers.scores import OURS, RIVALS
from studies.shared.claims import claim_of, claims_table
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers

OLDER_X0 = (
    "The numbers of guan_perturbation, here and below, were measured when its baseline x₀ was the mean of all pieces, "
    "special tokens included; now it is\nthat of the text's words.\n\n"
)
PAPER = {PRETRAINED: "93.2 (BERT)", "Transformer": "82.5", "BiLSTM": "84.9 (4 x 768)", "CNN": "82.0"}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        "# Layers: what do the layers of four classifiers hold of each word?\n\n"
        f"{about['texts']} test sentences, those with the smallest digests; {about['seeds']} training seeds of each "
        f"classifier, which learns from {about['n_train']:,} sentences. `{OURS}` explains the states of all positions "
        f"of a layer side by side, as in the paper's\nsection 5.2. After Guan et al. (2019), table 1 and Figures 3, 5, "
        f"6 and 7.\n\n"
        f"## Models\n\n{_models(numbers)}\n\n"
        "## Information by layer\n\nNats a piece and embedding dimension: mean over texts and seeds, with its 95 % "
        "t-interval over seeds. The zero is the\nlargest noise, which belongs to the model: compare layers of one "
        f"model, not models.\n\n{_information(numbers['information'])}\n\n"
        "![One sentence: what each layer holds of each word](maps.svg)\n\n"
        "The paper: the information falls with depth in all models but the CNN, whose widths of filter stand beside "
        f"one another.\nPositive where the paper says so.\n\n{_claims(numbers['falls'], 'nats')}\n"
        f"## Function words\n\n{_function_words(numbers)}\n"
        f"## Used words: together or apart (figure 5)\n\n{_segments(numbers)}\n"
        f"## Other methods\n\n{_rivals(numbers)}\n\n{OLDER_X0 if numbers['rivals'] and not numbers[X0] else ''}## "
        f"Coherency (table 1)\n\n{_rescaled(numbers['rescaled'])}\n"
    )


def _models(numbers: Numbers) -> str:
    rows = (
        [
            one["model"],
            one["seed"],
            f"{100 * one['accuracy']:.1f}",
            PAPER.get(one["model"], "–"),
            f"`{one['digest'][:16]}`",
        ]
        for one in numbers["models"]
    )
    return markdown_table(["model", "seed", "accuracy on test, %", "paper", "digest"], rows)


def _information(models: Mapping[str, Any]) -> str:
    rows = (
        [name, row, _cell(one["per_piece"]), f"{100 * one['settled']:.0f} %", f"{one['evaluations']:.0f}"]
        for name, of in models.items()
        for row, one in of.items()
    )
    return markdown_table(["model", "layer", "nats a piece", "searches settled", "evaluations"], rows)


def _claims(records: list[Numbers], unit: str) -> str:
    claims = [claim_of(one) for one in records]
    return claims_table(claims, unit) if claims else "None of the claims could be tested.\n"


def _function_words(numbers: Numbers) -> str:
    rows = ([name, _cell(one, 1), _listed(numbers["words"][name])] for name, one in numbers["function_words"].items())
    head = [
        "model",
        "function word on top, of 100 pairs",
        "among the three most held, times (function words in italics)",
    ]
    return (
        "Of what the head reads (of the BiLSTM and the CNN all states, from which the head takes the largest numbers): "
        "in 100 pairs\nof a function word and a content word of one sentence, how often does the state hold more of "
        "the function word? 50 is\nno difference.\n\n"
        f"{markdown_table(head, rows)}\n\nThe paper: models from random vectors keep stop words more than the "
        f"pretrained one. In points, positive where it says so.\n\n{_claims(numbers['stop_words'], 'points')}"
    )


def _segments(numbers: Numbers) -> str:
    rows = ([name, _cell(one, 1)] for name, one in numbers["runs"].items())
    return (
        "The words that the head's state holds most of: a quarter, a third and half of a sentence's words, since the "
        "paper names no\nlimit. Into how many runs of neighbours do they fall, in percent of the runs that as many "
        "words at random places would\nform? Below 100 they stand together more than at random.\n\n"
        f"{markdown_table(['model', 'runs, % of random'], rows)}\n\nThe paper, by one sentence a task: LSTM and CNN "
        "use words that stand together, BERT and the Transformer several segments.\nIn points, positive where it says "
        f"so.\n\n{_claims(numbers['segments'], 'points')}"
    )


def _listed(words: list[Any]) -> str:
    return ", ".join(f"{word} {count}" if content else f"*{word}* {count}" for word, count, content in words)


def _rivals(numbers: Numbers) -> str:
    rows, missing = [], []
    for name, methods in numbers["rivals"].items():
        for method, of in methods.items():
            if "missing" in of:
                missing.append(f"{method} on {name}: {of['missing']}")
            else:
                rows.append([name, method, " ".join(f"{row}: {value:.2f}" for row, value in of.items())])
    left_out = "".join(f"\n\nNot run: {one}" for one in missing)
    return (
        f"The sum of |score| over the pieces, as a share of the model's largest layer; {numbers['about']['rivals']} "
        f"texts, one seed, so no verdict. {RIVALS[-1]}\nreads the pooled state.\n\n"
        f"{markdown_table(['model', 'method', 'layer: share'], rows)}{left_out}"
    )


def _rescaled(units: list[Numbers]) -> str:
    if not units:
        return "Not run.\n"
    rows = [[one["method"], one["missing"] if "missing" in one else _times(one["times"])] for one in units]
    return (
        f"The states of layer {units[0]['layer']} of the BiLSTM are multiplied by {FACTOR:g}, and divided by it where "
        f"the next layer reads them: the answers and\nwhat each state holds stay the same. How many times as large are "
        f"the sums of scores?\n\n{markdown_table(['method', 'layer: times'], rows)}\n\n"
        "A method is coherent in the paper's sense if all are 1. The paper's perturbation is not scaled; ours divides "
        "by sigma_S².\n"
    )


def _times(times: Mapping[str, float]) -> str:
    return ", ".join(f"{row}: {value:.2f}" for row, value in times.items())


def _cell(interval: Mapping[str, float], digits: int = 2) -> str:
    mean, low, high = (f"{interval[name]:.{digits}f}" for name in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"
