"""The page of one corpus: methods under metrics, checks, what agrees with the truth, and whether advice holds."""

from collections.abc import Mapping, Sequence
from typing import Any

from pellucid.results.interval import Interval
from pellucid.results.table import CEILING, CHANCE
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers
from studies.which_explanation.corpora import reason_of
from studies.which_explanation.truth import TRUTH

MARKS = {"better": " ▲", "worse": " ▼", "undecided": "", "": ""}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    sections = "\n".join(_section(numbers, setting) for setting in about["settings"])
    return (
        f"# Which explanation can be trusted? {about['title']}\n\n"
        f"{about['n_test']} texts of at most {about['longest']} words, {about['n_train']:,} to learn from, "
        f"{about['seeds']} seeds. Every "
        f"value\nstands in `values.parquet`.\n\n"
        f"{not_run_yet(numbers['missing'])}"
        f"{models_table(numbers)}\n\n"
        "![Leads over random scores](methods.svg)\n\n"
        f"{sections}\n"
        f"{_truth_section(numbers)}"
        f"## Does advice hold on another seed?\n\n{numbers['advice']['words']}\n\n{cards_table(numbers)}\n\n"
        "## How to read it\n\n"
        "Means over seeds and texts, with the lead over random scores in brackets, text by text, positive where the "
        f"method is better.\n▲ and ▼: the t-interval over seeds, in which texts are nested, excludes 0; below "
        f"{ENOUGH_SEEDS} seeds there are no such marks.\nMany leads are tested at once, each at 95 %. What each metric "
        f"and check asks:\n[metrics](../../../docs/metrics), [checks](../../../docs/checks.md). Edited texts are "
        f"unusual for a model, agreement\nis no evidence of truth, and what people marked is not what the model reads. "
        f"The row of the annotators, where several people marked\na text, judges each of them by the others. "
        f"{where_computed(numbers['machines'])}\n"
    )


def models_table(numbers: Numbers) -> str:
    """Each model: how often it is right, and whether it learnt its reason."""
    rows = [[one["setting"], one["seed"], _shown(one["accuracy"]), _learnt(one["learnt"])] for one in numbers["models"]]
    return markdown_table(["model", "seed", "right on the judged texts", "reason learnt"], rows)


def methods_table(of_setting: Numbers) -> str:
    """Methods down, metrics across."""
    metrics: Mapping[str, Mapping[str, Numbers]] = of_setting["metrics"]
    if not metrics:
        return "Nothing was judged."
    methods = sorted(next(iter(metrics.values())), key=lambda name: name == CHANCE)
    rows = [[method, *(_cell(metrics[metric][method]) for metric in metrics)] for method in methods]
    ceiling = of_setting["ceiling"]
    if ceiling:
        people = ["{mean:.2f}".format(**ceiling[metric]) if metric in ceiling else "–" for metric in metrics]
        rows.append([CEILING, *people])
    return markdown_table(["method", *metrics], rows)


def checks_table(of_setting: Numbers) -> str:
    """Methods down, checks across: the mean of the first measure, and passes where the check has them."""
    checks: Mapping[str, Mapping[str, Mapping[str, Numbers]]] = of_setting["checks"]
    listed = {check: of for check, of in checks.items() if check != "class_overlap"}
    if not listed:
        return "No check was made."
    heads = {check: next(iter(next(iter(of.values())))) for check, of in listed.items()}
    methods = sorted({name for of in listed.values() for name in of}, key=lambda name: (name == CHANCE, name))
    rows = [
        [method, *(_check_cell(of.get(method, {}).get(heads[check])) for check, of in listed.items())]
        for method in methods
    ]
    return markdown_table(["method", *(f"{check}: {heads[check]}" for check in listed)], rows)


def truth_table(numbers: Numbers) -> str:
    """Each metric's agreement with the planted truth, the best first; those that read the reason's marks themselves
    stand last.
    """
    rows = [
        [
            metric,
            _tau(one["tau"]),
            f"{truth_verdict(one['tau'])}; {_models_of(one['by_model'])}",
            by_reason(one["by_model"]),
            "yes" if one["knows_marks"] else "",
        ]
        for metric, one in sorted(numbers["truth"].items(), key=_agreement)
    ]
    return markdown_table(
        ["metric", "Kendall's tau with the truth [95 %]", "", "tau of each model", "reads the reason itself"], rows
    )


def by_reason(by_model: Sequence[Sequence[Any]]) -> str:
    """The taus of the models of each reason, in the order of their seeds."""
    reasons = dict.fromkeys(reason for reason, _, _ in by_model)
    return "; ".join(
        f"{reason.partition('-')[2] or reason} "
        f"{', '.join(_tau_of_one(tau) for name, _, tau in by_model if name == reason)}"
        for reason in reasons
    )


def _models_of(by_model: Sequence[Sequence[Any]]) -> str:
    reasons = len({reason for reason, _, _ in by_model})
    return f"{len(by_model)} models of {reasons} reason{'s' * (reasons > 1)}"


def _tau_of_one(tau: float | None) -> str:
    return "–" if tau is None else f"{tau:+.2f}"


def truth_verdict(one: Numbers) -> str:
    """What the interval says."""
    interval = Interval(**one)
    if interval.mean != interval.mean:
        return "ranks no methods"
    if not interval.excludes_zero:
        return "undecided"
    return "**agrees**" if interval.mean > 0 else "**disagrees**"


def cards_table(numbers: Numbers) -> str:
    """What each seed's card advises, and a last row that says whether it holds."""
    rows = [
        [
            f"{one['setting']}, seed {one['seed']}",
            ", ".join(one["card"]["use"]) or "none",
            ", ".join(one["card"]["faithful"]) or "none",
            ", ".join(one["card"]["avoid"]) or "none",
        ]
        for one in numbers["cards"]
    ]
    advised = [row for row in numbers["advice"]["rows"] if row["method"]]
    holding = sum(row["outcome"] in ("recommended", "faithful") for row in advised)
    last = f"{holding} of {len(advised)} pairs of seeds" if advised else "–"
    return markdown_table(["card", "recommended", "faithful", "avoid"], [*rows, ["**advice holds**", last, "", ""]])


def _section(numbers: Numbers, setting: str) -> str:
    of_setting, reason = numbers["settings"][setting], reason_of(setting)
    title = numbers["about"]["title"] if reason is None else f"Planted: {reason}"
    seeds = f"{of_setting['seeds']} seed{'' if of_setting['seeds'] == 1 else 's'}"
    return f"## {title}\n\n{seeds}.\n\n{methods_table(of_setting)}\n\n{checks_table(of_setting)}\n"


def _truth_section(numbers: Numbers) -> str:
    if not numbers["truth"]:
        return ""
    return (
        "## Which metrics agree with the truth?\n\n"
        f"Kendall's tau over methods between a metric and `{TRUTH}`, which knows the planted reason: 1 where the "
        f"metric ranks methods as\nthe truth does. Bootstrap over reasons, seeds and texts; random scores are not "
        f"among the methods. Methods that the\ntruth hardly tells apart change places by chance, so a good metric "
        f"stays below 1 too. Metrics that read the reason's marks\nthemselves are no answer to the question, and stand "
        f"last.\n\n{truth_table(numbers)}\n\n"
    )


def _cell(one: Numbers) -> str:
    mean = one["value"]["mean"]
    if mean != mean:
        return "–"  # no text could be judged
    if one["lead"] is None:
        return f"{mean:z.2f}"
    return f"{mean:z.2f} ({one['lead']['mean']:+z.2f}){MARKS[one['verdict']]}"


def _check_cell(one: Numbers | None) -> str:
    if one is None or one["mean"] is None:
        return "–"
    counts = [f"{one[kind]} {words}" for kind, words in (("passed", "pass"), ("failed", "fail")) if one[kind]]
    return ", ".join([f"{one['mean']:z.2f}", *counts])


def _agreement(pair: tuple[str, Numbers]) -> tuple[bool, float]:
    mean: float = pair[1]["tau"]["mean"]
    return pair[1]["knows_marks"], -mean if mean == mean else 2.0


def _tau(one: Numbers) -> str:
    known = one["mean"] == one["mean"]
    return "{mean:+.2f} [{low:+.2f}, {high:+.2f}]".format(**one) if known else "–"


def _learnt(learnt: Numbers | None) -> str:
    return "–" if learnt is None else "yes" if learnt["holds"] else "no"


def _shown(interval: Numbers) -> str:
    return "{mean:.2f} [{low:.2f}, {high:.2f}]".format(**interval)
