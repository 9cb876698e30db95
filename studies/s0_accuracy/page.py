"""The numbers of `s0_accuracy` over texts and training seeds, with claims, page and picture."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import PERCENT, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import Interval
from studies.shared.claims import ENOUGH_SEEDS, SAME, Claim, SameClaim, claims_table, no_verdict, weighed
from studies.shared.computing_environment import count_machines, where_computed
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.markdown import models_with_seeds, not_run_yet
from studies.shared.span_sharpness import EMPTY, MANY_SPANS, spans_beside
from studies.shared.trainings import right_answers, right_on_shared_seeds
from studies.shared.units import Numbers

NO_WORSE = -0.5  # points: what the self-explaining model may lose to its plain twin
STRIPPED = "stripped-"  # models that do not read a full stop at the end of a text, as in the released code (A0.7)
SHARPNESS = ("effective_spans", "top_weight", "top_share")
TITLES = {"plain": "plain (first token)", "mean": "mean of all pieces", "average": "AvgSelf-Explaining"}
TASKS = {"sst5": "SST-5", "snli": "SNLI", "pocket": "pocket"}
# Table 1 and figure 2, RoBERTa-base, in points of accuracy: plain, average, lambda 0, best lambda, largest lambda.
PAPER = {"sst5": (56.4, 56.2, 57.0, 57.8, 56.4), "snli": (90.7, 90.8, 91.4, 91.7, 90.3)}


def summarise(runs: Sequence[Numbers]) -> Numbers:
    """Each model's accuracy and its paired difference from its plain twin, in points with 95 % intervals.

    chosen: the lambda that is best on dev, which may be 0. penalised: the best lambda above 0.
    """
    by_model: dict[str, list[Numbers]] = {}
    for run in runs:
        by_model.setdefault(run["model"], []).append(run)
    models = {name: _numbers(of, by_model[_twin(name, by_model)]) for name, of in by_model.items()}
    by_dev = sorted((name for name in models if _lambda(name) >= 0), key=lambda name: models[name]["dev"], reverse=True)
    best = next(iter(by_dev), None)
    penalised = next((name for name in by_dev if _lambda(name) > 0), None)
    return {
        "texts": len(runs[0]["right"]),
        "models": models,
        "chosen": best,
        "penalised": penalised,
        "differences": _differences(by_model, best or "", penalised or ""),
        "machines": count_machines(runs),
    }


def _lambda(name: str) -> float:
    return float(name.removeprefix("lambda-")) if name.startswith("lambda-") else -1.0


def _twin(name: str, names: Collection[str]) -> str:
    """The plain model that reads the same texts: a model is compared with it."""
    same = f"{STRIPPED}plain"
    return same if name.startswith(STRIPPED) and same in names else "plain"


def _numbers(of: Sequence[Numbers], plain: Sequence[Numbers]) -> Numbers:
    right = right_answers(of)
    dev = [100 * max(epoch["dev_accuracy"] for epoch in run["history"]) for run in of]
    sharp = [run["sharpness"] for run in of if run["sharpness"]]
    return {
        "seeds": len(of),
        "dev": float(np.mean(dev)),
        "test": asdict(mean_over_runs(right, PERCENT)),
        "test_by_seed": right.mean(1).tolist(),
        "over_plain": asdict(paired_difference_over_runs(*right_on_shared_seeds(of, plain))),
        "spans": [run["sharpness"] for run in of] if sharp else [],
        "effective_spans": [one["effective_spans"] for one in sharp],
        EMPTY: [one[EMPTY] for one in sharp if EMPTY in one],
        "sharpness": {name: float(np.mean([one[name] for one in sharp])) for name in SHARPNESS} if sharp else None,
    }


def _differences(by_model: Mapping[str, Sequence[Numbers]], best: str, penalised: str) -> Numbers:
    """The paired differences that the paper's claims are about, each with its number of seeds."""
    largest = max(by_model, key=_lambda)
    entropy = next((name for name in by_model if name.startswith("entropy-")), "")
    pairs = {
        "chosen - plain": (best, "plain"),
        "penalised - lambda 0": (penalised, "lambda-0"),
        "lambda 0 - plain": ("lambda-0", "plain"),
        "plain - average": ("plain", "average"),
        "chosen - average": (best, "average"),
        "penalised - largest": (penalised, largest),
        "entropy - penalised": (entropy, penalised),
    }
    return {
        name: _difference(*right_on_shared_seeds(by_model[more], by_model[less])) | {"models": [more, less]}
        for name, (more, less) in pairs.items()
        if more in by_model and less in by_model and more != less
    }


def _difference(more: np.ndarray, less: np.ndarray) -> Numbers:
    return {**asdict(paired_difference_over_runs(more, less)), "seeds": len(more)}


def claims(task: str, numbers: Numbers) -> list[Claim]:
    """The paper's relative claims that this task can test."""
    plain, average, zero, best, largest = PAPER.get(task, (np.nan,) * 5)
    claimed = {
        "chosen - plain": ("self-explaining (λ of dev) is better than plain", best - plain),
        "penalised - lambda "
        "0": ("the concentration penalty helps: the best λ above 0 on dev against λ = 0", best - zero),
        "lambda 0 - plain": ("even λ = 0 is better than plain", zero - plain),
        "plain - average": ("averaging all spans is worse than plain", plain - average),
        "chosen - average": ("learnt weights are better than averaging", best - average),
        "penalised - largest": ("too large a λ hurts: the best λ above 0 on dev against the largest", best - largest),
        "entropy - penalised": (f"footnote 2: the entropy does almost the same as the best λ above 0 (within "
                                f"{SAME:g})", np.nan),
    }  # fmt: skip
    return [
        _claim(name, _marked(words, paper), None if np.isnan(paper) else paper, numbers)
        for name, (words, paper) in claimed.items()
        if name in numbers["differences"]
    ]


def _claim(name: str, words: str, paper: float | None, numbers: Numbers) -> Claim:
    kind, over = SameClaim if name == "entropy - penalised" else Claim, numbers["differences"][name]
    measured = Interval(over["mean"], over["low"], over["high"])
    return kind(words, paper, measured, int(over["seeds"]), numbers["texts"], _spans_of(over["models"], numbers))


def _spans_of(models: Sequence[str], numbers: Numbers) -> str:
    """What the spans of the compared models are like; of a plain one there is nothing to say."""
    spans = {name: numbers["models"][name]["spans"] for name in models}
    return "; ".join(f"{_title(name)}: {spans_beside(of)}" for name, of in spans.items() if of)


def _marked(words: str, paper: float) -> str:
    """The claim. A claim that contradicts the paper's own numbers is marked."""
    return f"{words} (the paper's words; its numbers say otherwise)" if paper < 0 else words


def as_picture(task: str, numbers: Numbers) -> str:
    """Every model's difference from plain, as SVG."""
    over = {_title(name): Interval(**one["over_plain"]) for name, one in numbers["models"].items() if name != "plain"}
    panel = Panel("test accuracy minus plain", "points; better than plain →", over)
    seeds = max(one["seeds"] for one in numbers["models"].values())
    return interval_plot(
        f"{numbers['title']}: what explaining itself costs or gains",
        list(over),
        [panel],
        f"{numbers['texts']} test texts × {seeds} {'seed' if seeds == 1 else 'seeds'}; 95 % intervals, paired; grey: "
        f"not told from plain",
    )


def _title(name: str) -> str:
    if name.startswith(STRIPPED):
        return f"{_title(name.removeprefix(STRIPPED))}, full stop stripped"
    if name.startswith("entropy-"):
        return f"self-explaining, entropy × {name.removeprefix('entropy-')}"
    if name.startswith("narrow-"):
        return f"self-explaining, λ = 1, spans {name.removeprefix('narrow-')} wide"
    return TITLES.get(name, f"self-explaining, λ = {_lambda(name):g}")


def as_page(task: str, size: str, numbers: Numbers) -> str:
    """The report as a Markdown page."""
    rows = "\n".join(_row(name, of) for name, of in numbers["models"].items())
    return (
        f"# {numbers['title']}: accuracy of self-explaining models\n\n"
        f"Table 1 and figure 2 of Sun et al. (2020), size {size}, on {numbers['encoder']}; {numbers['texts']} test "
        f"texts.\n\n"
        "![Difference from plain](picture.svg)\n\n"
        "| model | seeds | dev | test [95 %] | minus plain [95 %] | effective spans | top span: weight | its share of "
        f"the words | top spans without content | their content words | on the final mark "
        f"|\n|---|---|---|---|---|---|---|---|---|---|---|\n{rows}\n\n"
        "Accuracy in points; dev is that of the best epoch. Intervals are t-intervals over training seeds in which "
        f"texts are\nnested; differences are paired. Below {ENOUGH_SEEDS} seeds nothing follows from them. Effective "
        f"spans: 1 / Σα², the mean over\ndev texts, by seed. Top spans without content: the share of dev texts, by "
        f"seed, whose heaviest span is punctuation or\nfunction words alone; content words: their share of the "
        f"words in heaviest spans; on the final mark: texts whose "
        f"heaviest span is it. Spread: more than {MANY_SPANS:g} effective spans; collapsed: one place has the "
        f"heaviest span of more "
        f"than half of the texts, or more than\na quarter of these spans have no content word. "
        f"{where_computed(numbers['machines'])}\n\n{_missing(numbers)}{_requirement(numbers)}\n## The paper's "
        f"claims\n\n{claims_table(claims(task, numbers), 'points')}\nReproduced: the interval lies on the paper's side "
        f"of 0, or of a claim of sameness within {SAME:g} point of it. Not\nreproduced: on the other, or farther off. "
        f"Else undecided. Below {ENOUGH_SEEDS} seeds there is no verdict. Several claims are tested\nat once.\n"
    )


def _missing(numbers: Numbers) -> str:
    missing = numbers.get("unfinished", {})
    return not_run_yet(models_with_seeds({_title(name): seeds for name, seeds in missing.items()}))


def _requirement(numbers: Numbers) -> str:
    if numbers["chosen"] is None or "chosen - plain" not in numbers["differences"]:
        return ""
    over = numbers["differences"]["chosen - plain"]
    verdict = no_verdict(over["seeds"]) or ("held" if over["mean"] >= NO_WORSE else "not held")
    other = (
        ""
        if numbers["penalised"] in (None, numbers["chosen"])
        else f"; of those above 0: **{_lambda(numbers['penalised']):g}**"
    )
    return (
        f"λ chosen on dev: **{_lambda(numbers['chosen']):g}**{other}. The mean difference of the chosen one from the "
        f"plain twin on test is {over['mean']:+.2f} [{over['low']:+.2f}, {over['high']:+.2f}] points; we ask for at "
        f"least {NO_WORSE}: {weighed(verdict, _spans_of(over['models'], numbers))}.\n"
    )


def _shares(of: Numbers, name: str) -> str:
    """A share of the heaviest spans by seed, of the trainings that it was counted in."""
    return ", ".join(f"{one[name]:.0%}" for one in of["spans"] if name in one) or "not measured"


def _row(name: str, of: Numbers) -> str:
    test, over = ("{mean:.2f} [{low:.2f}, {high:.2f}]".format(**of[part]) for part in ("test", "over_plain"))
    sharp = of["sharpness"]
    spans = (
        f"{', '.join(f'{one:.3g}' for one in of['effective_spans'])} | {sharp['top_weight']:.2f} | "
        f"{sharp['top_share']:.0%} | {_shares(of, EMPTY)} | {_shares(of, 'content_words')} | "
        f"{_shares(of, 'final_mark')}"
        if sharp
        else "– | – | – | – | – | –"
    )
    return (
        f"| {_title(name)} | {of['seeds']} | {of['dev']:.2f} | {test} | {'–' if name.endswith('plain') else over} | "
        f"{spans} |"
    )
