"""Every weight's numbers and verdicts as a page."""

from studies.s4_fragility.numbers import claims_of
from studies.s4_fragility.page import model_row
from studies.s4_fragility.paper import TABLE_1, TABLE_3
from studies.s4_fragility.tasks import TASKS
from studies.s4_weights.numbers import name_of
from studies.shared.claims import ENOUGH_SEEDS, SAME, Claim
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import listed_seeds, markdown_table, not_run_yet
from studies.shared.units import Numbers

CLAIMS = {"uniform": "fragile", "permuted": "fragile", "one word alone": "per_unit", "F1 as Base": "same"}

ABOUT_NUMBERS = (
    "its change under other weights, and the mean probability in % that one word's state\nalone gives the predicted "
    "class. Below each number the paper's, whose weight is not known.\nIntervals are t-intervals over training seeds "
    "in which texts are nested. ±: deviation from permutation\nto permutation, of ten. Effective words: 1 / Σ α², how "
    "many words share the weight."
)
ABOUT_VERDICTS = (
    "Each difference is in points from the plain model (Base) with the same attention, paired by seed and text: how\n"
    "much more F1 uniform and permuted weights cost, how much less sure of the answer a single word's state is, and\n"
    f"the F1 itself, which is “as good” where the whole interval lies within {SAME:g} point of 0. Below {ENOUGH_SEEDS} "
    "seeds there\nis no verdict."
)


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    task = TASKS[about["task"]]
    cut = f", cut after {about['words']:,} words" if about["words"] else ""
    return (
        f"# {about['title']}: every weight of tying and of masked words\n\n"
        "Tables 1 and 3 of Tutek and Šnajder (2020) at all weights of its table 4. "
        f"{about['n_train']:,} texts to learn from in {about['epochs']} epochs,\n{about['n_dev']:,} that choose the "
        f"epoch, and {about['n_test']:,} that are judged{cut}. Masked words (MLM) have the paper's loss: a sum\nover a "
        "text's hidden words, without frequencies. Word vectors begin 8.8 times as large as MiniLM's, so that "
        "their\nnumbers have the standard deviation of GloVe's.\n\n"
        f"{not_run_yet(numbers['missing'])}## Numbers\n\n{models_table(numbers)}\n\nF1 of “{task.labels[1]}” in "
        f"points, {ABOUT_NUMBERS}\n{where_computed(numbers['machines'])}\n\n## Verdicts\n\n"
        f"{verdicts_table(numbers)}\n\n{ABOUT_VERDICTS}{_collapsed(numbers)}\n"
    )


def models_table(numbers: Numbers) -> str:
    """Each model at each weight: F1, what other weights cost, and what one word alone says; the paper's below."""
    paper, rows = TASKS[numbers["about"]["task"]].paper, []
    for row in numbers["rows"]:
        of_paper = TABLE_1.get(paper, {}).get(row["pooler"], {}).get(row["variant"])
        alone = TABLE_3.get(paper, {}).get(row["pooler"], {}).get(row["variant"])
        of_model = row["numbers"]
        effective = f"{of_model['effective']:.1f} of {of_model['units']:.1f}"
        rows.append([_name(row), *model_row(of_model, of_paper, alone), effective])
    head = ["model", "seeds", "F1", "uniform", "permuted", "one word alone, %", "effective words"]
    return markdown_table(head, rows)


def verdicts_table(numbers: Numbers) -> str:
    """The claims at each weight, with their verdicts."""
    rows = []
    for row in numbers["rows"]:
        cells = [_verdict(row, heading) for heading in CLAIMS]
        if any(cells):
            rows.append([_name(row), *cells])
    return markdown_table(["model", *CLAIMS], rows) if rows else "Nothing could be tested."


def _verdict(row: Numbers, heading: str) -> str:
    """The measured difference and its verdict; a collapsed training beside it says that it carries nothing."""
    claims: list[Claim] = claims_of(row, CLAIMS[heading])
    if CLAIMS[heading] == "fragile":
        claims = [claim for claim in claims if f" {heading} weights" in claim.words]
    if not claims:
        return ""
    measured, collapsed = claims[0].measured, row["collapsed"]
    says_nothing = f"<br>says nothing: {listed_seeds(collapsed)}" if collapsed else ""
    interval = f"{measured.mean:+.1f} [{measured.low:+.1f}, {measured.high:+.1f}]".replace("-", "−")
    return f"{interval}<br>**{claims[0].verdict}**, {claims[0].seeds} seeds, {claims[0].texts:,} texts{says_nothing}"


def _collapsed(numbers: Numbers) -> str:
    if not any(row["collapsed"] for row in numbers["rows"]):
        return ""
    return (
        " “Says nothing” names the seeds in\nwhich a model or its plain twin answers one class everywhere or weighs "
        "all words of a text alike: a change of weights cannot change\nanything there."
    )


def _name(row: Numbers) -> str:
    return name_of(row["pooler"], row["variant"], row["weight"])
