"""Tables 1 to 5 as a page, and the claims as a picture."""

from collections.abc import Mapping

from studies.s4_fragility.information_page import information_text
from studies.s4_fragility.numbers import CLAIMS, claims_of
from studies.s4_fragility.paper import TABLE_1, TABLE_3, TABLE_5
from studies.s4_fragility.tasks import TASKS
from studies.shared.attention_models import PAPER_NAMES, SIGNS, hyper_parameters
from studies.shared.claims import ENOUGH_SEEDS, SAME, Claim, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import listed_seeds, markdown_table, not_run_yet
from studies.shared.units import Numbers

HEADINGS = {
    "fragile": "Weights that are replaced cost the tied models more",
    "per_unit": "A single word's state says less of the answer",
    "same": "The models are as good as the plain one, and Resid is like Concat",
}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    return (
        f"# {about['title']}: attention weights, changed after training\n\n"
        f"Tables 1 and 3 of Tutek and Šnajder (2020). "
        f"{_texts(about)}\n\n{not_run_yet(numbers['missing'])}{_choice(numbers)}"
        f"## Tables 1 and 3\n\n{models_table(numbers)}\n\n"
        f"F1 of “{TASKS[about['task']].labels[1]}” in points, then its change under other weights, and the mean "
        f"probability in % that one\nword's state alone gives the predicted class, over right answers. Below each "
        f"number the paper's. Intervals are t-intervals over\ntraining seeds in which texts are nested. ±: deviation "
        f"from permutation to permutation, of ten.\n{where_computed(numbers['machines'])}\n\n"
        "![What other weights cost more than in the plain model](fragility.svg)\n\n"
        f"## The paper's claims\n\nBelow {ENOUGH_SEEDS} seeds there is no verdict. “As good” means that the whole "
        f"interval lies within {SAME:g} point of 0.\n\n{_claims(numbers)}"
        f"## Table 2: what a state says of its "
        f"word\n\n{information_text(numbers['information'], TASKS[about['task']].paper, about)}\n## Figures 2 to 7: "
        f"word by word\n\n{_sentences(numbers)}## What the weights and answers are like\n\n{_look(numbers)}\n\n"
        f"{degenerate_models(numbers)}Effective words: 1 / Σ α², how many words share the weight. All weights equal "
        f"would make it the number of words.\n\n## Tables 4 and "
        f"5\n\n{markdown_table(['', 'paper', 'here'], hyper_parameters(about['batch_size']))}\n\n{_statistics(about)}\n"
    )


def _sentences(numbers: Numbers) -> str:
    if not numbers["sentences"]:
        return "Not run yet.\n\n"
    return (
        "Sentences of our own. Where the line lies near the model's own answer, dotted, at every word, each state "
        "alone has the answer.\n\n![What the state of each word alone would answer](sentences.svg)\n\n"
    )


def _texts(about: Numbers) -> str:
    cut = f", cut after {about['words']:,} words" if about["words"] else ""
    return (
        f"{about['n_train']:,} texts to learn from in {about['epochs']} epochs, {about['n_dev']:,} that choose the "
        f"epoch, and {about['n_test']:,}\nthat are judged{cut}."
    )


def _choice(numbers: Numbers) -> str:
    """Which weights are used, and the trainings that they were chosen by."""
    weights = numbers["choice"]["weights"]
    listed = ", ".join(f"{PAPER_NAMES[name]} {SIGNS[name]} = {weight:g}" for name, weight in weights.items())
    if not numbers["about"]["own_choice"]:
        return f"Weights, chosen on {TASKS[TASKS[numbers['about']['task']].weights_of or 'sst2'].title}: {listed}.\n\n"
    rows = [
        [
            f"{PAPER_NAMES[one['variant']]} {SIGNS[one['variant']]} = {one['weight']:g}",
            f"{one['own']:.1f}",
            *(_signed(one[way]) for way in ("uniform", "permuted")),
        ]
        for one in numbers["choice"]["dev"]
    ]
    table = markdown_table(["", "F1 on dev", "uniform", "permuted"], rows)
    return (
        f"## The choice of weights\n\nThe highest F1 on dev, {numbers['about']['choice_model']}: "
        f"{listed or 'not finished'}.\n\n{table}\n\n"
    )


def models_table(numbers: Numbers) -> str:
    """Tables 1 and 3, the paper's numbers below ours."""
    paper = TASKS[numbers["about"]["task"]].paper
    rows = []
    for name, one in numbers["models"].items():
        pooler, variant = name.split()
        row = TABLE_1.get(paper, {}).get(pooler, {}).get(variant)
        alone = TABLE_3.get(paper, {}).get(pooler, {}).get(variant)
        rows.append([f"{pooler}, {PAPER_NAMES[variant]}", *model_row(one, row, alone)])
    head = ["model", "seeds", "F1", "uniform", "permuted", "one word alone, %"]
    return markdown_table(head, rows)


def model_row(one: Numbers, paper: tuple[float, float, float] | None, alone: float | None) -> list[object]:
    """Seeds, F1, its changes, and a single word's probability, with the paper's numbers below ours."""
    own, uniform, permuted = paper or (None, None, None)
    return [
        one["seeds"],
        _cell(one["own"], own),
        _cell(one["uniform"], uniform, "+"),
        f"{_interval(one['permuted'], '+')} ± {one['deviation']:.1f}{_paper(permuted, '+')}",
        _cell(one["per_unit"], None if alone is None else 100 * alone),
    ]


def _cell(interval: Mapping[str, float], paper: float | None, sign: str = "") -> str:
    return f"{_interval(interval, sign)}{_paper(paper, sign)}"


def _interval(interval: Mapping[str, float], sign: str) -> str:
    mean, low, high = (f"{interval[end]:{sign}z.1f}".replace("-", "−") for end in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def _paper(value: float | None, sign: str = "") -> str:
    return "" if value is None else f"<br>{value:{sign}.1f}".replace("-", "−")


def _claims(numbers: Numbers) -> str:
    parts = []
    for kind in CLAIMS:
        listed = claims_of(numbers, kind)
        table = claims_table(listed, "points") if listed else "Nothing of it could be tested.\n"
        parts.append(f"### {HEADINGS[kind]}\n\n{table}\n")
    return "".join(parts)


def _look(numbers: Numbers) -> str:
    rows = [
        [
            name,
            f"{one['effective']:.1f} of {one['units']:.1f}",
            f"{100 * one['class_1']:.0f} %",
            f"{one['per_unit_micro']:.1f}",
            " ".join("`" + str(word).replace("`", "'").replace("|", "¦") + "`" for word, _ in one["heaviest"]),
        ]
        for name, one in numbers["models"].items()
    ]
    second = TASKS[numbers["about"]["task"]].labels[1]
    head = [
        "model",
        "effective words",
        f"answers “{second}”",
        "one word alone, over words, %",
        "most often the heaviest",
    ]
    return markdown_table(head, rows)


def degenerate_models(numbers: Numbers) -> str:
    """Trainings whose falls say nothing, in a paragraph; "" where there are none."""
    listed = [
        f"{name} ({listed_seeds(one['degenerate'])})" for name, one in numbers["models"].items() if one["degenerate"]
    ]
    if not listed:
        return ""
    return (
        f"**One class answered everywhere, or all weights of a text alike: {'; '.join(listed)}.** What other weights "
        f"cost such a model\nsays nothing.\n\n"
    )


def _statistics(about: Numbers) -> str:
    """Table 5, of the texts that are learnt from, by Jain and Wallace's rules for words."""
    length, vocabulary = TABLE_5.get(TASKS[about["task"]].paper, ("–", "–"))
    rows = [
        ["words of a text", length, f"{about['mean_words']:.0f}"],
        ["words of two texts or more", vocabulary, about["vocabulary"]],
    ]
    return markdown_table(["", "paper", "here"], rows)


def as_picture(numbers: Numbers) -> str:
    """What other weights cost more than in the plain model, and how much less sure a single word is, as SVG."""
    fragile = claims_of(numbers, "fragile")
    panels, rows = [], list(dict.fromkeys(_model_of(one) for one in fragile))
    for way in ("uniform", "permuted"):
        of_way = {_model_of(one): one.measured for one in fragile if f" {way} weights" in one.words}
        panels.append(Panel(f"{way} weights, F1", "the paper's side →", of_way))
    alone = {_model_of(one): one.measured for one in claims_of(numbers, "per_unit")}
    panels.append(Panel("one word alone, %", "the paper's side →", alone))
    about = numbers["about"]
    foot = f"{about['n_test']:,} texts × {about['seeds']} seeds; points over the plain model, 95 % intervals, paired"
    return interval_plot("More fragile than the plain model?", rows, panels, foot)


def _model_of(claim: Claim) -> str:
    """ "additive, Tying" of "additive: uniform weights cost Tying more ..." or "additive: a single word of Tying
    ...".
    """
    pooler, _, rest = claim.words.partition(": ")
    return f"{pooler}, {next(name for name in PAPER_NAMES.values() if f' {name} ' in rest)}"


def _signed(value: float) -> str:
    return f"{value:+z.1f}".replace("-", "−")
