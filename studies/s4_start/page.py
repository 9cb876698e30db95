"""The page of the two starts of a query, with its picture."""

from pellucid.results.table import Interval
from studies.s4_start.summary import SCALED, STARTS
from studies.shared.claims import ENOUGH_SEEDS, Claim, SameClaim, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.curve_plot import NamedCurve, curve_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, claims = numbers["about"], claims_of(numbers)
    return (
        f"# {about['title']}: the start of a query\n\n"
        f"Appendix C of Tutek and Šnajder (2020). Dot attention on a BiLSTM, {about['n_train']:,} texts to learn from "
        f"in {about['epochs']} epochs; the query is drawn from\nN(0, 1), or as a linear layer's weights are; the third "
        "model has word vectors 8.8 times as large as MiniLM's, whose numbers have GloVe's\nstandard deviation, "
        ".488 in place of .056.\n\n"
        f"{not_run_yet(numbers['missing'])}![How far below uniform the weights lie, by training "
        f"step](start.svg)\n\n{_table(numbers)}\n\nlog T − entropy of the weights of a text of T words, in nats, over "
        f"{about['watched']} dev texts: 0 of equal weights. Intervals are\nt-intervals over training seeds in which "
        f"texts are nested. {_accuracy(numbers)}\n{where_computed(numbers['machines'])}\n\n## The paper's "
        f"claims\n\nBelow {ENOUGH_SEEDS} seeds there is no verdict. “Uniform” means that the whole interval lies "
        f"within a hundredth of a nat of "
        f"0.\n\n{claims_table(claims, 'nats / 100') if claims else 'They could not be tested.'}\n"
    )


def claims_of(numbers: Numbers) -> list[Claim]:
    """The claims with their verdicts."""
    makes = {"apart": Claim, "uniform": SameClaim}
    return [
        makes[kind](**one | {"measured": Interval(**one["measured"])})
        for kind, listed in numbers["claims"].items()
        for one in listed
    ]


def as_picture(numbers: Numbers) -> str:
    """A curve a start as SVG: how far below uniform the weights lie, by training step, with its interval."""
    about = numbers["about"]
    curves = [
        NamedCurve(
            "normal start, vectors as GloVe's" if start == SCALED else f"{start} start",
            tuple((step, point["mean"]) for step, point in zip(one["steps"], one["curve"], strict=True)),
            tuple((point["low"], point["high"]) for point in one["curve"]),
        )
        for start, one in numbers["starts"].items()
    ]
    axes = "training step", "log T − entropy of the weights, nats: 0 of equal weights"
    foot = f"means of {about['watched']} dev texts and {about['seeds']} seeds, with 95 % intervals"
    return curve_plot("Does attention stay uniform?", curves, axes, foot)


def _table(numbers: Numbers) -> str:
    starts = [start for start in STARTS if start in numbers["starts"]]
    curves = [numbers["starts"][start] for start in starts]
    rows = [
        [step, *("{mean:.4f} [{low:.4f}, {high:.4f}]".format(**one["curve"][look]) for one in curves)]
        for look, step in enumerate(curves[0]["steps"])
    ]
    return markdown_table(["step", *starts], rows)


def _accuracy(numbers: Numbers) -> str:
    listed = "; ".join(
        f"{start} {', '.join(f'{one:.3f}' for one in of['dev_accuracy'])}" for start, of in numbers["starts"].items()
    )
    return f"Right on dev, by seed: {listed}."
