"""Table 6 as a page, and its claims as a picture."""

from studies.s4_fragility.page import degenerate_models, model_row
from studies.s4_fragility.paper import TABLE_6
from studies.shared.attention_models import PAPER_NAMES, SIGNS
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, claims = numbers["about"], [claim_of(one) for one in numbers["claims"]]
    weights = ", ".join(f"{PAPER_NAMES[name]} {SIGNS[name]} = {one:g}" for name, one in about["weights"].items())
    return (
        f"# {about['title']}: attention on LSTMs of one to three layers\n\n"
        f"Table 6 of Tutek and Šnajder (2020), additive attention. {about['n_train']:,} texts to learn from in "
        f"{about['epochs']} epochs, {about['n_dev']:,} that\nchoose the epoch, and {about['n_test']:,} that are "
        f"judged. {weights}.\n\n{not_run_yet(numbers['missing'])}{_table(numbers)}\n\n"
        "F1 in points, then its change under other weights, and the mean probability in % that one word's state alone "
        "gives the\npredicted class. Below each number the paper's. Intervals are t-intervals over training seeds in "
        f"which texts are nested.\n{where_computed(numbers['machines'])}\n\n{degenerate_models(numbers)}![What the "
        f"claims say, measured](layers.svg)\n\n## The paper's claims\n\nBelow {ENOUGH_SEEDS} seeds there is no "
        f"verdict. The paper calls these results "
        f"preliminary.\n\n{claims_table(claims, 'points') if claims else 'Nothing of it could be tested.'}\n"
    )


def _table(numbers: Numbers) -> str:
    rows = []
    for name, one in numbers["models"].items():
        layers, variant = name.split()
        paper = TABLE_6.get(int(layers), {}).get(variant) if numbers["about"]["task"] == "sst2" else None
        rows.append([f"{PAPER_NAMES[variant]}, layers: {layers}", *model_row(one, paper, None)])
    return markdown_table(["model", "seeds", "F1", "uniform", "permuted", "one word alone, %"], rows)


def as_picture(numbers: Numbers) -> str:
    """The claims' differences, uniform and permuted beside each other, as SVG."""
    claims = [claim_of(one) for one in numbers["claims"]]
    panels, rows = [], list[str]()
    for way in ("uniform", "permuted"):
        intervals = {_row(one.words, way): one.measured for one in claims if f"{way} weights" in one.words}
        rows = rows or list(intervals)
        panels.append(Panel(f"{way} weights, F1", "the paper's side →", intervals))
    about = numbers["about"]
    foot = f"{about['n_test']:,} texts × {about['seeds']} seeds; points, 95 % intervals, paired"
    return interval_plot("Less to change with more layers?", rows, panels, foot)


def _row(words: str, way: str) -> str:
    """ "Base: 2 layers against 1", or "Tying over Base: 2 against 1"."""
    depth = next(word for word in words.split() if word.isdigit())
    name = next((one for one in ("Tying", "MLM") if f" {one} " in words), None)
    return f"{name} over Base: {depth} layers against 1" if name else f"Base: {depth} layers against 1"
