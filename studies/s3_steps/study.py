"""Time steps: what does the state of a network that reverses strings hold of the words that it has read?

After Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4.2 and
Figure 2. A network of two LSTM layers with attention learns to reverse strings over four letters. For each step of the
target the state there is explained, over the letters of the source and of the target (corrections.md A3.11): the claim
is that it holds the last letters of the target and the mirrored letter of the source. Letters of the target that come
later cannot matter. The same strings are explained for every seed; a seed is another training of the network. Then a
Transformer and LSTMs that write, as translators do, reverse strings too: in what share of steps does each method give
the mirrored letter the most?

    python -m studies s3_steps --work work/s3_steps --out studies/s3_steps

Finished networks and maps are kept and not made again. `--size tiny` takes seconds.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from pellucid.base.errors import BadFile
from pellucid.base.json_text import file_digest
from pellucid.base.kinds import attributions
from pellucid.base.processes import Share, silent
from pellucid.results.bootstrap import SHARE, mean_over_runs
from pellucid.results.table import Interval
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.hidden_target import HiddenState
from pellucid.run.packing import scheduler_for
from pellucid.text.example import as_examples
from studies.s3_steps.network import LAYERS, MARK, as_model
from studies.s3_steps.page import as_page, as_picture
from studies.s3_steps.training import Size, load, strings, train
from studies.s3_steps.writers import writer_units
from studies.s3_steps.writers_section import writer_numbers
from studies.shared.options import FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

STRINGS_SEED = 1  # of the strings that are explained, the same for every network
NETWORK = "network"
REFERENCE = 64  # strings
SMALL = Size(64, 800, 64, 1000, 20, "retained_information", {})
TINY = Size(16, 20, 16, 20, 2, "gradient", {}, letters=4, shortest=3, longest=5, seeds=2)


@studies.add()
def s3_steps() -> Study:
    """What does the state of each time step hold of the words that a network has read?"""
    return Study(
        sizes={"small": SMALL, "tiny": TINY},
        options=(WORK, FINISHED),
        work=UnitStages({"trainings": trainings, "maps": maps, "writers": writer_units}),
        summary=summarise,
        page=lambda settings, numbers: as_page(numbers),
        pictures={"steps.svg": lambda settings, numbers: as_picture(numbers["picture"])},
    )


def weights_of(settings: Settings, seed: int) -> Path:
    """The file of a trained network."""
    return settings.work / f"{settings.size_name}-{seed}.safetensors"


def trainings(settings: Settings, records: Records) -> Sequence[Unit]:
    """The networks' trainings, one unit a seed."""
    about = {name: one for name, one in asdict(settings.size).items() if name in _OF_TRAINING}
    return [
        Unit(
            f"{NETWORK}-{seed}",
            about | {"seed": seed},
            partial(_trained, settings.size, seed, weights_of(settings, seed)),
            precision="float32",
        )
        for seed in range(settings.size.seeds)
    ]


_OF_TRAINING = ("width", "steps", "batch", "tested", "shortest", "longest", "rate")


def _trained(size: Size, seed: int, path: Path, share: Share) -> Numbers:
    path.parent.mkdir(parents=True, exist_ok=True)
    return train(size, seed, path, share) | {"weights": file_digest(path)}


def maps(settings: Settings, records: Records) -> Sequence[Unit]:
    """For each layer of each network the maps of all explained strings, one unit a layer."""
    units = []
    for seed in range(settings.size.seeds):
        trained = records["trainings"].get(f"{NETWORK}-{seed}")
        if trained is None:
            continue
        about = {"size": asdict(settings.size), "weights": trained["weights"], "seed": seed}
        work = partial(step_maps, settings.size, weights_of(settings, seed), trained["weights"])
        units += [
            Unit(f"layer-{layer}-{seed}", about | {"layer": layer}, partial(work, layer), precision="float32")
            for layer in range(1, LAYERS + 1)
        ]
    return units


def step_maps(size: Size, path: Path, weights: str, layer: int, share: Share) -> Numbers:
    """`strings` and for each its map [step][piece]: the scores of all pieces for the state at each step of the target.

    Pieces: the source's letters, the start, the target's letters. Step k is the state that has read k letters of the
    target and foretells the next one. Raises `BadFile` where the network is not the one that was trained.
    """
    if not path.exists() or file_digest(path) != weights:
        raise BadFile(
            f"{path} is not the network of this study's training; remove the file of its unit in runs/ to train it "
            f"again."
        )
    model = as_model(load(size, path))
    sources = strings(size.explained, STRINGS_SEED, held_out=True, shortest=size.letters, longest=size.letters)
    batch = model.encode(as_examples([(source, source[::-1]) for source in sources]))
    calls = method_calls([(size.method, size.settings | _reference(size))], model)
    steps = size.letters + 1
    by_step = []
    for step in range(steps):
        target = HiddenState(layer, (size.letters + step,))
        explained = explain_batch(Request(model, calls, target, 0), batch, scheduler_for(model), silent)
        by_step.append([one.scores.tolist() for one in explained[calls[0].title]])
        share((step + 1) / steps)
    return {"strings": sources, "maps": [list(one) for one in zip(*by_step, strict=True)]}


def _reference(size: Size) -> Numbers:
    """Strings of the training, on which a method that needs them measures how far states spread; no others fit the
    network.
    """
    if "reference" not in attributions.get(size.method).defaults:
        return {}
    sources = strings(REFERENCE, STRINGS_SEED + 1, held_out=False, shortest=size.shortest, longest=size.longest)
    return {"reference": tuple(f"{source}{MARK}{source[::-1]}" for source in sources)}


def summarise(settings: Settings, records: Records) -> Numbers:
    """The accuracy, for each layer how often the paper's claim holds, and one string's maps for the picture."""
    trained = list(records["trainings"].values())
    layers: dict[str, list[Numbers]] = {}
    for name, one in records["maps"].items():
        layers.setdefault(name.rpartition("-")[0], []).append(one)
    judged = {
        name: judge([one["maps"] for one in of_seeds], settings.size.letters) for name, of_seeds in layers.items()
    }
    return {
        "accuracy": asdict(_over_seeds(np.array([one["right"] for one in trained], dtype=float))),
        "letters": float(np.mean([one["letters"] for one in trained])),
        "size": asdict(settings.size),
        "seeds": len(trained),
        "layers": {
            name: {claim: asdict(interval) for claim, interval in claims.items()} for name, claims in judged.items()
        },
        "picture": {
            name: {"string": of_seeds[0]["strings"][0], "map": of_seeds[0]["maps"][0]}
            for name, of_seeds in layers.items()
        },
        "writers": writer_numbers(list(records["writers"].values())),
    }


def judge(maps: Sequence[Sequence[Sequence[Sequence[float]]]], letters: int) -> dict[str, Interval]:
    """The share of steps in which a claim holds, with 95 % intervals over networks, in which strings are nested.

    maps: [network][string][step][piece]. mirrored: of the source, the letter that comes next in the target has the
    highest score; in all steps but the last. near: that letter or one beside it has the highest. last: of the target so
    far, the letter read last has the highest score; in steps that have read two letters or more. beside: the mirrored
    letter and the last one each have more than the mean of all other letters that were read; in steps that have read a
    letter and foretell one. later: what the letters have that were not yet read, as a share of the largest score of the
    step; the largest of a string, which has to be 0.
    """
    names = ("mirrored", "near", "last", "beside", "later")
    rows = np.array([[_of_string(np.array(one), letters) for one in of_network] for of_network in maps])
    return {name: _over_seeds(rows[..., number]) for number, name in enumerate(names)}


def _over_seeds(values: np.ndarray) -> Interval:
    """The mean of values [network string] with its 95 % t-interval over networks."""
    return mean_over_runs(values, SHARE)


def _of_string(scores: np.ndarray, letters: int) -> list[float]:
    """One string's map [step piece] -> the share of its steps for each claim, in the order of `judge`."""
    scores = np.abs(scores)
    source, target = scores[:, :letters], scores[:, letters + 1 :]
    off = [abs(int(source[step].argmax()) - (letters - 1 - step)) for step in range(letters)]
    mirrored, near = (np.mean(np.array(off) <= most) for most in (0, 1))
    last = [target[step, :step].argmax() == step - 1 for step in range(2, letters + 1)]
    beside = [_beside(source[step], target[step], step) for step in range(1, letters)]
    later = max(target[step, step:].max(initial=0.0) / scores[step].max() for step in range(letters + 1))
    return [float(mirrored), float(near), float(np.mean(last)), float(np.mean(beside)), float(later)]


def _beside(source: np.ndarray, target: np.ndarray, step: int) -> bool:
    """Whether the mirrored letter and the last one have more than the mean of the others that were read."""
    mirror, newest = len(source) - 1 - step, step - 1
    others = [*np.delete(source, mirror), *target[:newest]]
    return bool(min(source[mirror], target[newest]) > np.mean(others))
