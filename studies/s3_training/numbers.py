"""What the layers hold at each look, over seeds and texts, and the paper's claims about how that changes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import NOT_NEGATIVE, mean_over_runs, paired_difference_over_runs, t_interval
from pellucid.results.table import Interval
from studies.s3_accuracy.models import PRETRAINED
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.units import Numbers

LSTM = "bilstm"
TOP = 2  # the last layers, which the paper says are adjusted
UNITS = {"nats": "nats a text", "change": "points"}


def summarise(units: Collection[Numbers], about: Numbers) -> Numbers:
    """The numbers of result.json: each model's nats by step and layer, its changes, the claims, and what is missing."""
    by_model = {name: [one for one in units if one["model"] == name] for name in about["epochs"]}
    shown = {name: sorted(of, key=lambda one: one["seed"]) for name, of in by_model.items() if of}
    return {
        "about": about,
        "models": {name: _numbers(of) for name, of in shown.items()},
        "claims": {unit: [_record(one) for one in claims(shown)[unit]] for unit in UNITS},
        "missing": [
            f"{name} (seed {seed})"
            for name, of in by_model.items()
            for seed in sorted(set(range(about["seeds"])) - {one["seed"] for one in of})
        ],
        "machines": count_machines(list(units)),
    }


def nats_of(runs: Sequence[Numbers]) -> np.ndarray:
    """[seed step layer text]"""
    return np.array([run["nats"] for run in runs], dtype=float)


def claims(by_model: Mapping[str, Sequence[Numbers]]) -> dict[str, list[Claim]]:
    """Unit -> the claims that can be tested, each positive where the paper is right."""
    tested: dict[str, list[Claim]] = {unit: [] for unit in UNITS}
    texts = next((len(of[0]["nats"][0][0]) for of in by_model.values()), None)
    if LSTM in by_model:
        nats, seeds = nats_of(by_model[LSTM]), len(by_model[LSTM])
        rise, fall = rise_and_fall(nats)
        tested["nats"] += [
            Claim(
                "the LSTM holds more at its peak than before training",
                None,
                rise,
                seeds,
                texts,
                _settled(by_model[LSTM]),
            ),
            Claim(
                "the LSTM holds less after training than at its peak",
                None,
                fall,
                seeds,
                texts,
                _settled(by_model[LSTM]),
            ),
        ]
    if LSTM in by_model and PRETRAINED in by_model:
        changes = [_on_shared_steps(by_model[name], by_model) for name in (LSTM, PRETRAINED)]
        seeds = min(map(len, changes))
        both = _settled([*by_model[LSTM], *by_model[PRETRAINED]])
        less = t_interval([one.mean() - other.mean() for one, other in zip(*changes, strict=False)])
        tested["change"].append(Claim("BERT (here MiniLM) changes less than the LSTM", None, less, seeds, texts, both))
    if PRETRAINED in by_model:
        by_layer = change_by_layer(nats_of(by_model[PRETRAINED]))
        top = t_interval([one[-TOP:].mean() - one[:-TOP].mean() for one in by_layer])
        words = f"BERT (here MiniLM): its last {TOP} layers change more than the others"
        tested["change"].append(Claim(words, None, top, len(by_layer), texts, _settled(by_model[PRETRAINED])))
    return tested


def _settled(runs: Sequence[Numbers]) -> str:
    """How many searches for the noise had settled: what an unsettled one gives, more steps would change."""
    return f"{np.mean([one for run in runs for one in run['settled']]):.0%} of searches settled"


def rise_and_fall(nats: np.ndarray) -> tuple[Interval, Interval]:
    """From the first look to the peak, and from the peak to the last look; the mean over the layers above the word
    vectors.

    nats: [seed step layer text]. The peak is each seed's, chosen on every second text and measured on the others: on
    the same texts, chance alone would give a peak.
    """
    over_layers = nats[:, :, 1:].mean(2)  # [seed step text]
    peaks = over_layers[:, :, ::2].mean(-1).argmax(1)
    rest = over_layers[:, :, 1::2]
    at_peak = np.stack([seed[peak] for seed, peak in zip(rest, peaks, strict=True)])
    return paired_difference_over_runs(at_peak, rest[:, 0]), paired_difference_over_runs(at_peak, rest[:, -1])


def change_by_layer(nats: np.ndarray) -> np.ndarray:
    """[seed step layer text] -> [seed layer]: percent of the first look's nats that later looks differ by, on average.

    The layer of the word vectors is left out: of it every look holds the same.
    """
    over_texts = nats.mean(-1)[:, :, 1:]
    first = over_texts[:, :1]
    return np.asarray(100 * (np.abs(over_texts[:, 1:] - first) / first).mean(1))


def _on_shared_steps(runs: Sequence[Numbers], by_model: Mapping[str, Sequence[Numbers]]) -> np.ndarray:
    """`change_by_layer` over the steps at which both models were looked at: a longer training would change more."""
    shared = set.intersection(*(set(of[0]["steps"]) for of in (by_model[LSTM], by_model[PRETRAINED])))
    columns = [number for number, step in enumerate(runs[0]["steps"]) if step in shared]
    return change_by_layer(nats_of(runs)[:, columns])


def _numbers(runs: Sequence[Numbers]) -> Numbers:
    nats = nats_of(runs)
    looks = range(nats.shape[1])
    return {
        "seeds": len(runs),
        "steps": runs[0]["steps"],
        "layers": runs[0]["layers"],
        "nats": nats.mean((0, 3)).tolist(),
        "nats_by_seed": nats.mean(3).tolist(),
        "ends": [
            [asdict(mean_over_runs(nats[:, look, layer], NOT_NEGATIVE)) for layer in range(nats.shape[2])]
            for look in (looks[0], looks[-1])
        ],
        "change": change_by_layer(nats).mean(0).tolist(),
        "settled": float(np.mean([run["settled"] for run in runs])),
        "dev": float(np.mean([100 * max(one["dev_accuracy"] for one in run["history"]) for run in runs])),
        "seconds": [round(run["seconds"]) for run in runs],
    }


def _record(claim: Claim) -> Numbers:
    return asdict(claim)
