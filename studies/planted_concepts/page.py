"""The table of planted concepts: way of search x layer, in how many seeds both reasons are found."""

from collections.abc import Sequence
from statistics import median

from pellucid.drawing.wording import three
from studies.shared.computing_environment import count_machines, where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

CHANCE = "random directions"


def summarise(about: Numbers, runs: Sequence[Numbers]) -> Numbers:
    """Of finished units: for each way and layer how often both reasons, and all four words, are found, and r."""
    shown = sorted(runs, key=lambda run: run["seed"])
    ways = {
        f"{method}, layer {layer}": _of_way([run["layers"][str(layer)][method] for run in shown], about["enough"])
        for layer in about["layers"]
        for method in shown[0]["layers"][str(layer)]
    }
    return {
        "about": about,
        "accuracy": [run["accuracy"] for run in shown],
        "ways": ways,
        "missing": [f"seed {seed}" for seed in range(about["seeds"]) if seed not in {run["seed"] for run in shown}],
        "machines": count_machines(runs),
    }


def _of_way(searches: Sequence[Numbers], enough: float) -> Numbers:
    r = [value for each in searches for value in each["r"].values()]
    every = [min(each["r"].values()) >= enough for each in searches]
    return {
        "both": sum(each["both"] for each in searches),
        "every_word": sum(every),
        "r": median(r),
        "seeds": len(searches),
    }


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    rows = [
        [way, f"{of['both']} of {of['seeds']}", f"{of['every_word']} of {of['seeds']}", three(of["r"])]
        for way, of in numbers["ways"].items()
    ]
    head = ["way and layer", "both reasons", "all four words", "median r of a planted word"]
    right = ", ".join(three(value) for value in numbers["accuracy"])
    return (
        "# Are planted reasons among learnt concepts?\n\n"
        f"Two reasons, each one of two made-up words, decide the four labels of {about['texts']:,} sentences of "
        f"pocket; MiniLM learns\nthem in {about['epochs']} epochs, and {about['concepts']} concepts are found in the "
        f"states of the train texts' words.\n\n{not_run_yet(numbers['missing'])}{markdown_table(head, rows)}\n\n"
        "A reason is found where a concept goes with one of its words: the square of r, of activation and word, is "
        f"{three(about['enough'] ** 2)} or more, and\nr above what words that are as frequent reach in 95 of 100 "
        "draws. The two reasons must have two concepts. Random directions are drawn with\nthe spread of the states. "
        f"The median counts a word that no concept goes with beyond chance as 0.\n\nRight on test, by seed: {right}.\n"
        f"{where_computed(numbers['machines'])}\n"
    )
