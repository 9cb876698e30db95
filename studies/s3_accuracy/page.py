"""Table 2 as a page, and the differences from the pretrained model as a picture."""

from studies.s3_accuracy.models import PAPER_NAMES, PRETRAINED, TITLES
from studies.s3_accuracy.tasks import MEASURES, TASKS
from studies.shared.claims import ENOUGH_SEEDS, Claim, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    task = about["task"]
    claims = claims_of(numbers)
    return (
        f"# {about['title']}: four kinds of models\n\n"
        f"Table 2 of Guan et al. (2019). {_texts(numbers)}\n\n"
        f"{not_run_yet(numbers['missing'])}"
        f"{_table(numbers)}\n\n"
        f"Points are {MEASURES[TASKS[task].measure]}. Intervals are t-intervals over training seeds in which texts are "
        f"nested; of one seed\nthey are over texts alone, and say nothing about the next training. "
        f"{where_computed(numbers['machines'])}\n\nOne class: the share of texts to which the model gives the class "
        f"that it gives most; of the labels {_majority(numbers):.0%} have\ntheir commonest class. Where it is 100 %, "
        f"the model has learnt nothing that tells texts apart.\n\n![The pretrained model less each of the "
        f"others](models.svg)\n\n## The paper's claim\n\nThe pretrained model is the best on each data set. Below "
        f"{ENOUGH_SEEDS} seeds there is no "
        f"verdict.\n\n{claims_table(claims, 'points') if claims else 'It could not be tested.'}\n## What differs from "
        f"the paper\n\nMiniLM stands for BERT. The other models have {about['width']} numbers a "
        f"state, where the paper's LSTM has 768 from\neach direction, and they read pieces of words. A pair "
        f"of texts is read as one row, first and second text with a\nmark between them; the paper does not say how its "
        f"other models read pairs. The paper trains on far more texts, and does not say\nhow: so what can be compared "
        f"is which model is better, not how good any is.\n"
    )


def claims_of(numbers: Numbers) -> list[Claim]:
    """The claims with their verdicts."""
    return [claim_of(one) for one in numbers["claims"]]


def _texts(numbers: Numbers) -> str:
    """Which texts were used, in a sentence or two."""
    about = numbers["about"]
    sentence = (
        f"{about['n_train']:,} texts to learn from, {about['n_dev']:,} that choose the epoch, and "
        f"{about['n_test']:,} that are judged."
    )
    if TASKS[about["task"]].own_test:
        return sentence
    return (
        f"{sentence} The data have no labelled test part: their dev part is judged, and texts out of train choose "
        f"the epoch."
    )


def _majority(numbers: Numbers) -> float:
    """The share of the judged texts whose label is the commonest one; the same texts for all models."""
    return float(next(iter(numbers["models"].values()))["majority"])


def _table(numbers: Numbers) -> str:
    paper = TASKS[numbers["about"]["task"]].paper or {}
    epochs = numbers["about"]["epochs"]
    rows = [
        [
            TITLES[name],
            PAPER_NAMES[name],
            f"{paper[name]:.1f}" if name in paper else "–",
            epochs[name],
            one["seeds"],
            "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**one["score"]),
            ", ".join(f"{score:.1f}" for score in one["by_seed"]),
            f"{one['commonest']:.0%}",
        ]
        for name, one in numbers["models"].items()
    ]
    return markdown_table(
        ["model", "of the paper", "paper", "epochs", "seeds", "here [95 %]", "by seed", "one class"], rows
    )


def as_picture(numbers: Numbers) -> str:
    """How far the pretrained model is ahead of each of the others, as SVG."""
    about, claims = numbers["about"], claims_of(numbers)
    panel = Panel(
        f"{TITLES[PRETRAINED]} less the other",
        "points; the paper's side →",
        {claim.words: claim.measured for claim in claims},
    )
    seeds = f"{about['seeds']} seed{'' if about['seeds'] == 1 else 's'}"
    foot = f"{about['n_test']} texts × {seeds}; 95 % intervals; {MEASURES[TASKS[about['task']].measure]}"
    title = f"{about['title']}: is the pretrained model best?"
    return interval_plot(title, list(panel.intervals), [panel], foot)
