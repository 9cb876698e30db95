"""States of a layer word by word, piece by piece or text by text: a sample of bounded size, streamed in parts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile, BadSetting, ModelCannot
from pellucid.base.json_text import json_digest
from pellucid.base.memory import give_back, not_enough_memory
from pellucid.base.processes import Progress
from pellucid.models.folders.weight_files import save_tensors
from pellucid.run.batch import Batch
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.trace import Want
from pellucid.run.windows import in_windows
from pellucid.text.example import Example
from pellucid.text.units import Units, coarsen, text_units

Level = Literal["word", "piece", "text"]
LEVELS = get_args(Level)
PART = 512  # texts whose states are written together
TOGETHER = 64  # texts whose states of pieces are in memory together
MOST_NUMBERS = 2**24  # in all states of a sample: 64 MB in float32
MOST_STATES = 30_000
STAGE = "reading states"


@dataclass(frozen=True, eq=False)
class StateSample:
    """states: [state width] in float32. places: [state 4], whole numbers: the text's number, its segment, and the
    characters [start, end) there; of a text's state (text, -1, 0, 0). n_all: how many states all texts have.
    """

    states: np.ndarray
    places: np.ndarray
    n_all: int


@dataclass(frozen=True)
class StateQuestion:
    """Which states of which texts: level, "word", "piece" or "text". share: of the states, drawn text by text."""

    model: Model
    examples: tuple[Example, ...]
    layer: int
    level: Level
    share: float
    seed: int

    @property
    def n_parts(self) -> int:
        """How many parts the texts are cut into."""
        return -(-len(self.examples) // PART)

    def part(self, index: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The states and places of one part's texts, and how many states these texts have."""
        states, places, count = [], [], 0
        last = min((index + 1) * PART, len(self.examples))
        for first in range(index * PART, last, TOGETHER):
            texts = self.examples[first : min(first + TOGETHER, last)]
            batch = self.model.encode(texts)
            for offset, pieces in enumerate(piece_states(self.model, batch, self.layer)):
                of_units, where = unit_states(batch, offset, pieces, self.level)
                drawn = self._drawn(texts[offset], len(of_units))
                states.append(of_units[drawn])
                places.append(np.hstack([np.full((int(drawn.sum()), 1), first + offset), where[drawn]]))
                count += len(of_units)
            give_back()  # states of texts of many lengths leave gaps, and twenty thousand texts would leave many
        return np.concatenate(states), np.concatenate(places), count

    def _drawn(self, example: Example, count: int) -> np.ndarray:
        """[unit] bool: those that are read; they depend on the text alone, whatever texts stand beside it."""
        digest = blake2b(repr((example.segments, self.seed)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "little")).random(count) < self.share


def piece_states(model: Model, batch: Batch, layer: int) -> list[np.ndarray]:
    """For each text [piece width] in float32: the layer's states; of a text in windows the mean over its windows."""
    windows, owners = in_windows(batch)
    scheduler = scheduler_for(model)
    sums = [np.zeros((0, 0), np.float32)] * len(batch)
    counts = [np.zeros((length, 1), np.float32) for length in batch.lengths]

    def run(pack: list[int]) -> None:
        hidden = model.trace([windows.rows[row] for row in pack], Want(hidden=True, deepest=layer)).hidden[layer]
        _add(hidden.float().cpu(), pack, sums, counts)

    def _add(hidden: Tensor, pack: list[int], sums: list[np.ndarray], counts: list[np.ndarray]) -> None:
        for state, row in zip(hidden, pack, strict=True):
            text, pieces = owners[row], list(windows.rows[row].own_numbers)
            if not sums[text].size:
                sums[text] = np.zeros((len(counts[text]), state.shape[-1]), np.float32)
            sums[text][pieces] += state[: len(pieces)].numpy()
            counts[text][pieces] += 1

    with torch.inference_mode(False), torch.no_grad():
        for pack in scheduler.packs_of(windows.rows):
            scheduler.halving(pack, run)
    return [total / np.maximum(count, 1) for total, count in zip(sums, counts, strict=True)]


def level_units(batch: Batch, text: int, level: Level) -> tuple[Units, np.ndarray]:
    """The words or pieces of a text, and [piece]: the unit of each; of a text's state its words."""
    units, index = coarsen(batch.units[text], "piece" if level == "piece" else "word", batch.examples[text].segments)
    return units, np.array(index, dtype=np.int64)


def unit_states(batch: Batch, text: int, pieces: np.ndarray, level: Level) -> tuple[np.ndarray, np.ndarray]:
    """[unit width], the mean over each unit's pieces, without special tokens, and [unit 3]: segment, start, end."""
    units, index = level_units(batch, text, level)
    if level == "text":
        content = list(batch.units[text].content)
        return pieces[content].mean(0, keepdims=True), np.array([[-1, 0, 0]])
    sums, counts = np.zeros((len(units), pieces.shape[1]), np.float32), np.bincount(index, minlength=len(units))
    np.add.at(sums, index, pieces)
    content = list(units.content)
    where = np.array([units.segment, units.start, units.end]).T[content].reshape(-1, 3)
    return (sums / np.maximum(counts, 1).astype(np.float32)[:, None])[content], where


def state_question(
    model: Model, examples: Sequence[Example], layer: int, level: Level, most_states: int, seed: int
) -> StateQuestion:
    """Raises `ModelCannot` for a model without states, `BadSetting` where it has no such layer."""
    if "hidden_states" not in model.capabilities:
        raise ModelCannot(
            f"{model.name} shows no hidden states, and concepts are read from them; give a transformer, a network of "
            f"yours by from_network(layers=), or a model that Pellucid trained."
        )
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= model.n_layers:
        raise BadSetting(
            f"layer={quoted(layer)} is no layer of {model.name}; give a whole number from 0 to {model.n_layers}."
        )
    width = piece_states(model, model.encode(examples[:1]), layer)[0].shape[1]
    room = min(most_states, MOST_NUMBERS // width)
    share = min(1.0, room / max(1, sum(_count(example, level) for example in examples)))
    return StateQuestion(model, tuple(examples), layer, level, share, seed)


def _count(example: Example, level: Level) -> int:
    """About how many states a text has; how many pieces its words are in does not matter much."""
    return 1 if level == "text" else sum(len(text_units(text, "word")) for text in example.segments)


def sampled_states(question: StateQuestion, file_of: Callable[[int], Path] | None, progress: Progress) -> StateSample:
    """All parts' states; file_of: where each part is kept, so that interrupted work goes on; None: in memory."""
    parts = []
    for index in range(question.n_parts):
        progress(STAGE, min(index * PART, len(question.examples)), len(question.examples))
        parts.append(question.part(index) if file_of is None else _part_in_file(question, index, file_of(index)))
    progress(STAGE, len(question.examples), len(question.examples))
    states, places, counts = zip(*parts, strict=True)
    return StateSample(np.concatenate(states), np.concatenate(places), sum(counts))


def _part_in_file(question: StateQuestion, index: int, path: Path) -> tuple[np.ndarray, np.ndarray, int]:
    """A part from its file, or computed and written; raises `BadFile` for a damaged one."""
    owner = {"model": question.model.hash, "layer": question.layer, "level": question.level, "part": index}
    if not path.exists():
        states, places, count = question.part(index)
        tensors = {"states": torch.from_numpy(states), "places": torch.from_numpy(places)}
        save_tensors(tensors, path, {"count": str(count), "seal": _seal(owner, states, places, count)})
    return _read_part(path, owner)


def _read_part(path: Path, owner: dict[str, object]) -> tuple[np.ndarray, np.ndarray, int]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            states, places = file.get_tensor("states"), file.get_tensor("places")
            metadata = file.metadata() or {}
        count = int(metadata["count"])
        assert metadata["seal"] == _seal(owner, states, places, count)
    except MemoryError:
        raise not_enough_memory(f"read {path}") from None
    except (SafetensorError, OSError, ValueError, LookupError, TypeError, AssertionError):
        raise BadFile(f"{path} is damaged or of other texts; remove it to have it made again.") from None
    return states, places, count


def _seal(owner: dict[str, object], states: np.ndarray, places: np.ndarray, count: int) -> str:
    """A digest of a part and of what it belongs to."""
    arrays = [blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest() for array in (states, places)]
    return json_digest([owner, arrays, count, list(states.shape)])
