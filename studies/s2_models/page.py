"""Table 3 as a page and as a picture."""

from pellucid.results.table import Interval
from studies.s2_models.tasks import TASKS
from studies.s3_accuracy.models import TITLES
from studies.shared.computing_environment import where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

HEAD = [
    "data",
    "model",
    "paper: texts",
    "paper",
    "here: texts",
    "seeds",
    "here [95 %]",
    "by seed",
    "epoch",
    "commonest",
]


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    return (
        "# How often the models of sentiment are right\n\n"
        "Table 3 of Wu and Ong (2021), in percent.\n\n"
        f"{not_run_yet(numbers['missing'])}"
        f"{accuracy_table(numbers)}\n\n"
        "Intervals are t-intervals over training seeds in which texts are nested; of one seed they are over texts "
        "alone. Epoch: the\none that dev chose for each seed ([A2.12](../../docs/papers/corrections.md#a212)). "
        f"Commonest: the share of the judged\ntexts with the commonest label. {where_computed(numbers['machines'])}\n\n"
        "![Accuracy above the commonest class](models.svg)\n\n"
        "## What differs from the paper\n\n"
        "MiniLM (six layers, 384 wide) stands for BERT, and it learns from far fewer texts, so accuracies are lower. "
        "IMDb and Yelp-5\nare cut at 128 pieces, where the released code cuts them when it explains. SST-5 is learnt "
        f"from {'all distinct phrases' if numbers['about']['phrases'] else 'sentences, not phrases'}\n"
        "([A2.14](../../docs/papers/corrections.md#a214)). Yelp's texts are of another cut, with the natural "
        "distribution of stars.\nHashtags and addresses in tweets are masked, as in the part that is learnt from. "
        "Transformer and BiLSTM begin with random\nvectors; they are not in the paper, and are there to be explained "
        "and attacked beside MiniLM.\n"
    )


def accuracy_table(numbers: Numbers) -> str:
    """Each model on each data set, ours and the paper's."""
    return markdown_table(HEAD, [_row(one, numbers["about"]) for one in numbers["models"]])


def _row(one: Numbers, about: Numbers) -> list[object]:
    task, in_paper = TASKS[one["task"]], one["model"] == "pretrained"
    return [
        about["tasks"][one["task"]]["title"],
        TITLES[one["model"]],
        f"{task.train:,}" if in_paper else "–",
        f"{task.accuracy:.1f}" if in_paper else "–",
        f"{about['tasks'][one['task']]['n_train']:,}",
        one["seeds"],
        "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**one["accuracy"]),
        ", ".join(f"{score:.1f}" for score in one["by_seed"]),
        ", ".join(map(str, one["best_epochs"])),
        f"{one['commonest']:.0%}",
    ]


def as_picture(numbers: Numbers) -> str:
    """Each model's accuracy less the share of the commonest class, as SVG."""
    intervals = {
        f"{numbers['about']['tasks'][one['task']]['title']}, {TITLES[one['model']]}": _above(one)
        for one in numbers["models"]
    }
    panel = Panel("above the commonest", "points; it has learnt →", intervals)
    return interval_plot(
        "Sentiment: what the models have learnt",
        list(intervals),
        [panel],
        "95 % intervals over seeds and texts",
    )


def _above(one: Numbers) -> Interval:
    floor = 100 * one["commonest"]
    return Interval(*(one["accuracy"][end] - floor for end in ("mean", "low", "high")))
