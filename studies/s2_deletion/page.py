"""Figure 1 as a page: a table and curves of every data set, the claims, and what the released code changes."""

from collections.abc import Mapping

from studies.s2_deletion.methods import CHANCE, PAPER, TITLES
from studies.s2_deletion.paper import FIGURE_1, WORD_COUNTS
from studies.shared.claims import ENOUGH_SEEDS, Claim, SameClaim, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.curve_plot import NamedCurve, curve_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

WORDS = {"delete": "Words deleted", "pad": "Words written over with padding, as the released code does"}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    names = "; ".join(f"{name}: {title}" for name, title in TITLES.items())
    sections = "\n".join(_section(numbers, task) for task in numbers["tasks"])
    return (
        "# Do right answers go with the words that a method scores highest?\n\n"
        "Figure 1 of Wu and Ong (2021): the share of right answers while words are taken out, highest scores first, on "
        f"texts that are\nanswered right at first. {names}.\n\n"
        f"{not_run_yet(numbers['missing'])}"
        f"{sections}\n"
        "## How to read it\n\n"
        "Differences are means over 1, 5 and 10 words, in points, with t-intervals over training seeds in which texts "
        f"are nested; only\ntexts that all seeds answer right at first count. Below {ENOUGH_SEEDS} seeds there is no "
        f"verdict. “Almost the same” means\nthat the whole interval lies within one point. Lines without a number of "
        f"the paper are ours: the released code explains the\nlast class of every text and has its own rules "
        f"([A2.1](../../docs/papers/corrections.md#a21),\n[A2.3](../../docs/papers/corrections.md#a23) to "
        f"[A2.8](../../docs/papers/corrections.md#a28)), and appendix A of the paper\npasses relevance through GELU as "
        f"if it had no derivative ([A2.7](../../docs/papers/corrections.md#a27)).\nTexts without words are unusual for "
        f"a model, so a wrong answer does not prove that a word was the reason: random words are the\nmeasure, the "
        f"mean of {about['draws']} draws.\n\n{where_computed(numbers['machines'])}\n"
    )


def task_table(numbers: Numbers, task: str, operator: str) -> str:
    """Right answers without 1, 5 and 10 words under every method, ours and the paper's."""
    curves, most = numbers["tasks"][task]["curves"][operator], numbers["about"]["most"]
    points = [k for k in WORD_COUNTS if k <= most]
    rows = [
        [name, one["n"], *(_cell(one["points"][k]) for k in points), _paper(task, name, len(points))]
        for name, one in sorted(curves.items(), key=lambda pair: pair[0] == CHANCE)
    ]
    return markdown_table(["method", "texts", *(f"without {k}" for k in points), "paper"], rows)


def claims_of(numbers: Numbers, task: str, operator: str) -> list[Claim]:
    """The claims with their verdicts."""
    return [deletion_claim(one) for one in numbers["tasks"][task]["claims"].get(operator, ())]


def deletion_claim(record: Numbers) -> Claim:
    """A claim of a record; one of sameness where the record says so."""
    fields = {name: value for name, value in record.items() if name != "same"}
    return claim_of(fields, SameClaim if record["same"] else Claim)


def as_picture(numbers: Numbers, task: str) -> str:
    """The curves of the paper's methods and of random words, words deleted, as SVG."""
    curves: Mapping[str, Numbers] = numbers["tasks"].get(task, {}).get("curves", {}).get("delete", {})
    drawn = [
        NamedCurve(
            name,
            tuple((float(k), point["mean"]) for k, point in enumerate(curves[name]["points"])),
            tuple((point["low"], point["high"]) for point in curves[name]["points"]),
        )
        for name in (CHANCE, *PAPER)
        if name in curves and curves[name]["n"] > 1
    ]
    seeds = next(iter(curves.values()))["seeds"] if curves else 0
    title = (
        numbers["about"]["tasks"].get(task, {}).get("title", task)
    )  # a task that was not run has a picture without curves
    return curve_plot(
        f"{title}: right answers while words are deleted",
        drawn,
        ("words deleted, highest scores first", "share of right answers"),
        f"texts answered right at first; 95 % intervals over {seeds} seed{'' if seeds == 1 else 's'} and texts",
    )


def _section(numbers: Numbers, task: str) -> str:
    about, of_task = numbers["about"]["tasks"][task], numbers["tasks"][task]
    counts = sorted({one["n"] for of in of_task["curves"].values() for one in of.values()})
    judged = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    blocks = "\n".join(
        f"### {WORDS[operator]}\n\n{task_table(numbers, task, operator)}\n\n"
        f"{claims_table(claims_of(numbers, task, operator), 'points')}"
        for operator in of_task["curves"]
    )
    return (
        f"## {about['title']}\n\n{about['n_texts']} texts were explained, of which {judged} are right at first under "
        f"all seeds. The\nreleased code explains "
        f"“{about['last_class']}”.\n\n![{about['title']}]({task}.svg)\n\n{blocks}"
    )


def _cell(point: Numbers) -> str:
    return "{mean:.2f} [{low:.2f}, {high:.2f}]".format(**point)


def _paper(task: str, name: str, count: int) -> str:
    values = FIGURE_1.get(task, {}).get(name, ())[:count]
    return " / ".join(f"{value:.2f}" for value in values) or "–"
