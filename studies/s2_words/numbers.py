"""Lists of words of each method under every seed, how far the seeds agree on them, and what classes share."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import SHARE, t_interval
from studies.s2_words.paper import ENDS
from studies.shared.markdown import models_with_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of result.json: lists by data set and method, shares of words that classes have in common, and our
    sentences.
    """
    units = sorted(records["words"].values(), key=lambda unit: unit["seed"])
    sentences = sorted(records["sentences"].values(), key=lambda unit: unit["seed"])
    tasks, missing = {}, {}
    for task, of_task in about["tasks"].items():
        own = [unit for unit in units if unit["task"] == task]
        missing[of_task["title"]] = sorted(set(range(about["seeds"])) - {unit["seed"] for unit in own})
        if own:
            tasks[task] = {"words": _lists(own), "overlap": _overlaps(own)}
    missing["our sentences"] = sorted(set(range(about["seeds"])) - {unit["seed"] for unit in sentences})
    return {
        "about": about,
        "tasks": tasks,
        "sentences": sentences[0]["sentences"] if sentences else [],
        "missing": models_with_seeds(missing),
    }


def common_words(lists: Sequence[Sequence[str]]) -> int:
    """How many words all lists have."""
    return len(set.intersection(*map(set, lists))) if lists else 0


def _lists(units: Sequence[Numbers]) -> Numbers:
    """method -> end -> the words of the first seed, with how often they occur, and how many words all seeds have."""
    return {
        name: {
            end: {
                "words": units[0]["words"][name].get(end, []),
                "seeds": len(units),
                "common": common_words([[row["word"] for row in unit["words"][name].get(end, [])] for unit in units]),
            }
            for end in ENDS
        }
        for name in units[0]["words"]
    }


def _overlaps(units: Sequence[Numbers]) -> Numbers:
    """method -> "the method", "random lists", "the rarest words" -> the share over seeds."""
    return {
        name: {beside: _share([unit["overlap"].get(name, {}) for unit in units], beside) for beside in of}
        for name, of in units[0]["overlap"].items()
    }


def _share(of_seeds: Sequence[Mapping[str, Numbers]], beside: str) -> Numbers:
    shares = [of[beside]["share"] for of in of_seeds if beside in of]
    k = [of[beside]["k"] for of in of_seeds if beside in of]
    return {"value": asdict(t_interval(shares, SHARE)), "k": int(np.min(k)), "seeds": len(shares)}
