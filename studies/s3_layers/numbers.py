"""The layers summed up over seeds: information a piece, function words beside content words, most informative words,
claims.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pellucid.results.bootstrap import NOT_NEGATIVE, PERCENT, mean_over_runs, paired_difference_over_runs
from pellucid.text.lexicon import is_content_word
from studies.s3_layers.models import PRETRAINED
from studies.s3_layers.scores import HEAD
from studies.shared.claims import Claim
from studies.shared.study import Records
from studies.shared.units import Numbers

MOST_WORDS, LISTED = 3, 12  # a text's words with most information; the words that a model is listed with
LONGEST_SHOWN = 16  # words of the text of the picture
USED = (1 / 4, 1 / 3, 1 / 2)  # of a text's words, those with most information; the paper names no limit
IN_RUNS, IN_SEGMENTS = ("BiLSTM", "CNN"), (PRETRAINED, "Transformer")  # as the paper reads figure 5
X0, WORDS = (
    "x0",
    "mean of words",
)  # in records: guan_perturbation's baseline; older ones took special tokens in and have no such entry


def summarise(records: Records, about: Numbers) -> Numbers:
    """The numbers of result.json."""
    units = list(records["retained"].values())
    by_model = {
        name: [one for one in units if one["model"] == name] for name in dict.fromkeys(one["model"] for one in units)
    }
    return {
        "about": about,
        "models": [_of_model(one) for one in records["models"].values()],
        "information": {name: _information(of) for name, of in by_model.items()},
        "function_words": {
            name: asdict(mean_over_runs(np.array([_function_words(one) for one in of]), PERCENT))
            for name, of in by_model.items()
        },
        "words": {name: most_informative_words(of) for name, of in by_model.items()},
        "falls": [_record(one) for one in falls(by_model)],
        "stop_words": [_record(one) for one in stop_words(by_model)],
        "runs": {
            name: asdict(mean_over_runs(np.array([_runs(one) for one in of]), NOT_NEGATIVE))
            for name, of in by_model.items()
        },
        "segments": [_record(one) for one in segments(by_model)],
        "rivals": _rivals(records["rivals"].values()),
        X0: WORDS if all(one.get(X0) == WORDS for one in records["rivals"].values()) else "",
        "rescaled": [_moved(one) for one in records["rescaled"].values()],
        "maps": _maps(by_model),
    }


def falls(by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: information falls with depth in all models but the CNN. In nats a piece, positive where it says so."""
    claims = []
    for name, of in by_model.items():
        rows = _layers(of[0])
        edges = (rows[0], rows[-1])
        first, last = (np.array([one["per_piece"][row] for one in of]) for row in edges)
        words = f"{name}: layer {rows[0]} holds more than layer {rows[-1]}"
        if name == "CNN":  # the widths stand beside one another, and what the paper says is that nothing falls
            first, last, words = (
                last,
                first,
                f"{name}: width {rows[-1][1:]} holds no less than width {rows[0][1:]}",
            )
        claims.append(
            Claim(words, None, paired_difference_over_runs(first, last), len(of), first.shape[1], _settled(of, edges))
        )
    return claims


def _settled(units: Sequence[Numbers], rows: Sequence[str]) -> str:
    """How many searches for the noise had settled, in the rows that are compared."""
    shares = [one["settled"][row] for one in units for row in rows]
    return f"{np.mean(shares):.0%} of searches settled"


def stop_words(by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: models from random vectors keep function words more than the pretrained one. In points of
    `_function_words`.
    """
    if PRETRAINED not in by_model:
        return []
    ours = by_model[PRETRAINED]
    claims = []
    for name, of in by_model.items():
        if name == PRETRAINED:
            continue
        both = sorted({one["seed"] for one in of} & {one["seed"] for one in ours})
        more, less = (
            np.array([_function_words(one) for seed in both for one in units if one["seed"] == seed])
            for units in (of, ours)
        )
        words = f"{name} keeps function words more than {PRETRAINED}"
        claims.append(Claim(words, None, paired_difference_over_runs(more, less), len(both), _judged(more - less)))
    return claims


def _judged(differences: np.ndarray) -> int:
    """[seed text] -> how many texts have a number under every seed."""
    return int((~np.isnan(differences).any(0)).sum())


def _function_words(unit: Numbers) -> list[float]:
    """[text]: of 100 pairs of a function word and a content word, how many have the function word on top; nan without
    pairs.

    A rank, not a ratio: where the zero of information lies depends on the scale of the noise.
    """
    shares = []
    for words, scores in zip(unit["words"], unit["rows"][HEAD], strict=True):
        lettered = [any(character.isalnum() for character in word) for word in words]
        content = np.array([is_content_word(word) for word in words])
        values = np.array(scores)
        function = values[~content & lettered]
        rest = values[content & lettered]
        over = (function[:, None] > rest) + 0.5 * (function[:, None] == rest)
        shares.append(100 * float(over.mean()) if over.size else float("nan"))
    return shares


def segments(by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: LSTM and CNN use words that stand together, models of self-attention several segments. In points of
    `runs_of_used_words`, how many more the latter have.
    """
    claims = []
    for few in (name for name in IN_RUNS if name in by_model):
        for many in (name for name in IN_SEGMENTS if name in by_model):
            both = sorted({one["seed"] for one in by_model[few]} & {one["seed"] for one in by_model[many]})
            more, less = (
                np.array([_runs(one) for seed in both for one in by_model[name] if one["seed"] == seed])
                for name in (many, few)
            )
            claims.append(
                Claim(
                    f"{few} uses words in fewer runs than {many}",
                    None,
                    paired_difference_over_runs(more, less),
                    len(both),
                    more.shape[1],
                    _settled([*by_model[few], *by_model[many]], [HEAD]),
                )
            )
    return claims


def _runs(unit: Numbers) -> list[float]:
    """[text]: `runs_of_used_words` of what the head's state holds."""
    return [runs_of_used_words(np.array(scores)) for scores in unit["rows"][HEAD]]


def runs_of_used_words(scores: np.ndarray) -> float:
    """How many runs of neighbours the words of the highest scores form, in percent of what as many words at random
    places form; mean over the shares `USED`. scores: [word].

    k of n words at random places form k (n - k + 1) / n runs on average.
    """
    n_words, shares = len(scores), []
    for share in USED:
        n_used = max(1, round(share * n_words))
        used = np.zeros(n_words, dtype=bool)
        used[np.argsort(-scores, kind="stable")[:n_used]] = True
        n_runs = int(used[0]) + int((used[1:] & ~used[:-1]).sum())
        shares.append(100 * n_runs * n_words / (n_used * (n_words - n_used + 1)))
    return float(np.mean(shares))


def most_informative_words(units: Sequence[Numbers]) -> list[tuple[str, int, bool]]:
    """The words that are most often among the three that the head's state holds most of: (word, count, whether it has
    content).
    """
    counts: Counter[str] = Counter()
    for one in units:
        for words, scores in zip(one["words"], one["rows"][HEAD], strict=True):
            known = [n for n, word in enumerate(words) if any(character.isalnum() for character in word)]
            best = sorted(known, key=lambda n: -scores[n])[:MOST_WORDS]
            counts.update({words[n].lower() for n in best})
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:LISTED]
    return [(word, count, is_content_word(word)) for word, count in listed]


def _layers(unit: Numbers) -> list[str]:
    return [row for row in unit["rows"] if row != HEAD]


def _information(units: Sequence[Numbers]) -> dict[str, Any]:
    """row -> the mean information a piece with its interval over seeds, whether searches settled, and their
    evaluations.
    """
    return {
        row: {
            "per_piece": asdict(mean_over_runs(np.array([one["per_piece"][row] for one in units]), NOT_NEGATIVE)),
            "settled": float(np.mean([one["settled"][row] for one in units])),
            "evaluations": float(np.mean([one["evaluations"][row] for one in units])),
        }
        for row in units[0]["rows"]
    }


def _rivals(units: Any) -> dict[str, dict[str, Any]]:
    """model -> method -> row -> the mean sum over texts, as a share of the model's largest row; or why it is
    missing.
    """
    table: dict[str, dict[str, Any]] = {}
    for one in units:
        sums = {row: float(np.mean(of)) for row, of in one.get("sums", {}).items()}
        most = max(sums.values(), default=0.0) or 1.0
        table.setdefault(one["model"], {})[one["method"]] = (
            {"missing": one["missing"]} if "missing" in one else {row: of / most for row, of in sums.items()}
        )
    return table


def _moved(unit: Numbers) -> Numbers:
    """method, and row -> how many times as large its sum is after rescaling, as the mean over texts; or why it is
    missing.
    """
    missing = unit["before"].get("missing") or unit["after"].get("missing")
    if missing:
        return {"method": unit["method"], "layer": unit["layer"], "missing": missing}
    times = {
        row: float(np.mean(np.array(after) / np.maximum(unit["before"]["sums"][row], 1e-12)))
        for row, after in unit["after"]["sums"].items()
    }
    return {"method": unit["method"], "layer": unit["layer"], "times": times}


def _maps(by_model: Mapping[str, Sequence[Numbers]]) -> dict[str, Any]:
    """The first short text: its words, and model -> row -> [word] of the first seed."""
    units = {name: of[0] for name, of in by_model.items()}
    texts = next(iter(units.values()))["words"]
    number = next((n for n, words in enumerate(texts) if len(words) <= LONGEST_SHOWN), 0)
    return {
        "words": texts[number],
        "models": {name: {row: scores[number] for row, scores in one["rows"].items()} for name, one in units.items()},
    }


def _of_model(unit: Numbers) -> Numbers:
    return {name: unit[name] for name in ("model", "seed", "accuracy", "digest")}


def _record(claim: Claim) -> Numbers:
    return asdict(claim)
