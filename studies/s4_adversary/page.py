"""Figure 1 as a page with its picture: a curve a model, a point a λ."""

from collections.abc import Mapping

from studies.shared.attention_models import PAPER_NAMES, SIGNS
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.curve_plot import NamedCurve, curve_plot
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

LIMITS = (
    "What the curve does not say, as section 3.3 does: a model that is trained to repeat answers repeats the mistakes "
    "too, and is drawn to\nthe same words; far weights may be another good explanation; and both numbers are means "
    "over texts of all lengths, of which short\nones leave less room to be far. Classes are not weighed, and the "
    "divergence is Jensen-Shannon in training as well as in the report\n(corrections A4.1, A4.2)."
)


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    weights = ", ".join(f"{PAPER_NAMES[name]} {SIGNS[name]} = {one:g}" for name, one in about["weights"].items())
    return (
        f"# {about['title']}: adversaries that imitate models of attention\n\n"
        f"Figure 1 of Tutek and Šnajder (2020), additive attention. An adversary learns from {about['train']:,} texts "
        f"of the imitated model's\n{about['n_train']:,}, in {about['epochs']} epochs; {about['n_test']:,} texts are "
        f"judged. {weights}.\n\n{not_run_yet(numbers['missing'])}![Divergence of the weights against distance of the "
        f"answers](adversary.svg)\n\n{points_table(numbers)}\n\n"
        "Divergence: mean Jensen-Shannon divergence of the weights from the imitated model's, in nats, at most 0.69. "
        "Distance: mean total\nvariation of the answers, 0 to 1. t-intervals over training seeds.\n"
        f"{where_computed(numbers['machines'])}\n\n{_where_it_starts(numbers)}{LIMITS}\n\n"
        f"## The paper's claim\n\nBelow {ENOUGH_SEEDS} seeds there is no verdict. Cost: points of distance for each "
        f"nat of divergence, from the smallest λ to the largest.\n\n{claims_text(numbers)}\n"
    )


def _where_it_starts(numbers: Numbers) -> str:
    """How far the answers of an adversary lie that learnt nothing but to repeat them: what is more than that is the
    weights' price.
    """
    starts = [one["points"][0] for one in numbers["models"].values()]
    if any(point["divergence_weight"] for point in starts):
        return ""
    distances = [point["distance"]["mean"] for point in starts]
    return (
        f"At λ = 0 an adversary learns to repeat the answers and nothing else. Its answers still lie "
        f"{min(distances):.2f} to {max(distances):.2f} away, because it learns from {numbers['about']['train']:,} "
        f"texts: only a distance above that is the price of other weights.\n\n"
    )


def claims_text(numbers: Numbers) -> str:
    """The claims with their verdicts."""
    claims = [claim_of(one) for one in numbers["claims"]]
    return claims_table(claims, "points a nat") if claims else "It could not be tested.\n"


def points_table(numbers: Numbers) -> str:
    """A row a λ: each model's divergence and distance."""
    models = numbers["models"]
    weights = [point["divergence_weight"] for point in next(iter(models.values()))["points"]]
    rows = [
        [
            f"{weight:g}",
            *(_cell(one["points"][row][what]) for one in models.values() for what in ("divergence", "distance")),
        ]
        for row, weight in enumerate(weights)
    ]
    head = ["λ", *(f"{PAPER_NAMES[name]}: {what}" for name in models for what in ("divergence", "distance"))]
    return markdown_table(head, rows)


def as_picture(numbers: Numbers) -> str:
    """A curve a model as SVG: how far the weights lie, and how far the answers."""
    about = numbers["about"]
    curves = [
        NamedCurve(
            PAPER_NAMES[name],
            tuple((point["divergence"]["mean"], point["distance"]["mean"]) for point in one["points"]),
        )
        for name, one in numbers["models"].items()
    ]
    weights = ", ".join(f"{point['divergence_weight']:g}" for point in next(iter(numbers["models"].values()))["points"])
    foot = f"along each line λ = {weights}; means of {about['seeds']} seeds and {about['n_test']:,} texts"
    axes = "divergence of the weights, nats", "distance of the answers"
    return curve_plot("Other weights, the same answers?", curves, axes, foot)


def _cell(interval: Mapping[str, float | None]) -> str:
    mean, low, high = ("–" if interval[end] is None else f"{interval[end]:z.3f}" for end in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]".replace("-", "−")
