"""The agreement of T3 with people's marks as numbers, and as a page with the paper's beside."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pellucid.evaluation.eraser_scores import NUMBERS, eraser_differences
from pellucid.evaluation.summary import accuracy_interval
from pellucid.studies.claims import Claim

Numbers = dict[str, Any]
# Sun et al. (2020), table 3: IOU F1, token F1
PAPER = {
    ("movies", "average_gradient"): (0.075, 0.175),
    ("movies", "average_attention"): (0.067, 0.142),
    ("movies", "rationale"): (0.132, 0.281),
    ("movies", "span_attention"): (0.152, 0.314),
    ("snli", "average_gradient"): (0.251, 0.349),
    ("snli", "average_attention"): (0.301, 0.435),
    ("snli", "rationale"): (0.381, 0.459),
    ("snli", "span_attention"): (0.454, 0.571),
}
OURS = "span_attention"
TITLES = {
    "one span": "One span each, by the paper's rule; of `rationale` all that it reads",
    "budget": "One span each, as long as people's marks on average",
    "words": "The best words, as many as people marked on average",
}


def summed_up(found: Mapping[str, Numbers]) -> Numbers:
    """Task -> accuracies of its models, scores of its extractors by cut, and the claims."""
    tasks = dict.fromkeys(one["task"] for one in found.values())
    return {
        "tasks": {task: _task([one for one in found.values() if one["task"] == task]) for task in tasks},
        "seconds": sum(one["seconds"] for one in found.values()),
    }


def _task(units: Sequence[Numbers]) -> Numbers:
    judged = {one["name"]: one for one in units if "right" not in one}
    whole = {name: one for name, one in judged.items() if "left_out" not in one}
    return {
        "models": {
            one["name"]: list(asdict(accuracy_interval(one["right"])).values())
            for one in units
            if "right" in one
        },
        "left_out": {name: one["left_out"] for name, one in judged.items() if "left_out" in one},
        "cuts": {cut: {name: one[cut]["scores"] for name, one in whole.items()} for cut in TITLES},
        "claims": [
            claim
            for cut in TITLES
            for name in whole
            if name != OURS and OURS in whole
            for claim in _claims(whole, cut, name)
        ],
    }


def _claims(whole: Mapping[str, Numbers], cut: str, rival: str) -> list[Numbers]:
    ours, theirs = (np.array(whole[name][cut]["columns"]) for name in (OURS, rival))
    return [
        {
            "cut": cut,
            "over": rival,
            "score": score,
            "difference": [round(value, 4) for value in asdict(over).values()],
            "verdict": Claim(score, None, over, 1).verdict,
        }
        for score, over in eraser_differences(ours, theirs, resamples=10_000).items()
    ]


def as_page(numbers: Numbers, size: str) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    tasks = "\n".join(_of_task(task, found) for task, found in numbers["tasks"].items())
    return (
        "# Do the spans agree with people's marks?\n\n"
        f"{about['encoder']}, seed {about['seed']}; made by\n"
        f"`python -m pellucid.studies.s0_eraser --data FOLDER --work WORK --size {size} --out studies/s0_eraser`.\n\n"
        "Scores of the ERASER benchmark, 0 to 1, with 95 % intervals over texts; in brackets table 3 of the paper (RoBERTa),\n"
        "which does not say how spans were cut. Taken: the share of tokens that was extracted; marked: by people. They say\n"
        "whether spans look right to people, not whether the model used them. `average_gradient` reads the label. The paper\n"
        "has no random spans; there *reproduced* means that span attention is better.\n\n"
        f"{tasks}"
    )


def _of_task(task: str, found: Numbers) -> str:
    models = ", ".join(f"{name} {_cell(held)}" for name, held in found["models"].items())
    cuts = "\n".join(f"### {title}\n\n{_table(task, found['cuts'][cut])}\n" for cut, title in TITLES.items())
    out = "".join(f"`{name}` is left out: {why}\n" for name, why in found["left_out"].items())
    return f"## {task}\n\nAccuracy on the judged texts: {models}.\n{out}\n{cuts}\n### Is span attention better?\n\n{_verdicts(found['claims'])}\n"


def _table(task: str, rows: Mapping[str, Numbers]) -> str:
    lines = []
    for name, scores in rows.items():
        paper = PAPER.get((task, name))
        cells = [
            _cell(list(scores[score].values())) + (f" ({paper[number]:.3f})" if paper else "")
            for number, score in enumerate(NUMBERS)
        ]
        lines.append(f"| {name} | {scores['budget']:.0%} | {scores['marked']:.0%} | {' | '.join(cells)} |")
    head = "| spans by | taken | marked | IOU F1 | token F1 |\n|---|---|---|---|---|"
    return "\n".join([head, *lines])


def _cell(found: Sequence[float]) -> str:
    mean, low, high = found
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _verdicts(claims: Sequence[Numbers]) -> str:
    lines = [
        f"| {one['cut']} | {one['score']} | {one['over']} | {_cell(one['difference'])} | {one['verdict']} |"
        for one in claims
    ]
    head = "| cut | score | than | difference | verdict |\n|---|---|---|---|---|"
    return "\n".join([head, *lines])
