"""How far a layer's states vary from word to word: the unit in which a change of a state counts.

Guan et al. (2019), equation 7: sigma_S. It belongs to the model and the layer, never to the texts that are explained.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import datasets
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import EVERY, ResolvedState
from pellucid.run.model import WRITING, Model
from pellucid.run.packing import scheduler_for
from pellucid.run.readout import StateReadout
from pellucid.run.target import Explainable
from pellucid.run.trace import Want
from pellucid.run.windows import in_windows
from pellucid.text.example import Example, as_examples
from pellucid.text.units import SPECIAL

Reference = str | Sequence[str]
N_TEXTS = 500  # of a data set: some 7,000 words of `pocket`, whose deviations are within 2 % of those of all its texts
SMALLEST = 1e-6  # a dimension that varies less counts as varying so much
REMEMBERED = 32  # models with their references

_REMEMBERING = threading.Lock()
_remembered: "OrderedDict[tuple[str, str], _Measured]" = OrderedDict()


@dataclass(frozen=True, eq=False)
class StateScale:
    """The spread of the states of one layer, or of a part of them, over reference texts.

    deviations: [width'], in float64, the standard deviation of each dimension over all pieces of all texts, at least
        1e-6.
    means: [width'], the means likewise. word_deviation: the deviation of the entries of the word embeddings of the same
    pieces. word_mean: [width of words], the mean embedding of the pieces of text, without special tokens. n_texts: how
    many texts. source: which, in words.
    """

    deviations: Tensor
    means: Tensor
    word_deviation: float
    word_mean: Tensor
    n_texts: int
    source: str


def state_scale(model: Model, target: ResolvedState, reference: Reference = "pocket") -> StateScale:
    """The scale of the explained layer's states: `readout_scale` of what the target reads."""
    return readout_scale(model, target.readout, reference)


def readout_scale(model: Model, readout: StateReadout, reference: Reference = "pocket") -> StateScale:
    """The scale of one layer's states, measured once for each model and reference, for all layers together.

    reference: the name of a data set, whose train texts are read (500 of them, evenly spaced), or a list of texts.

    Where the paper has one number for all dimensions, each has its own (corrections.md A3.2), so that states whose
    dimensions are rescaled keep their scores. Raises `BadSetting` for a reference without texts.
    """
    texts, source = _texts(reference)
    key = model.hash, blake2b(repr(texts).encode(), digest_size=16).hexdigest()
    with _REMEMBERING:
        measured = _remembered.get(key)
    if measured is None:  # two threads may both measure; their numbers are equal
        measured = _measure(model, [Example(_readable(model, text)) for text in texts])
        with _REMEMBERING:
            _remembered[key] = measured
            while len(_remembered) > REMEMBERED:
                _remembered.popitem(last=False)
    return StateScale(
        readout.part_of(measured.deviations[readout.layer]),
        readout.part_of(measured.means[readout.layer]),
        measured.word_deviation,
        measured.word_mean,
        len(texts),
        source,
    )


@dataclass(frozen=True, eq=False)
class _Measured:
    """deviations, means: for each layer [width]; word_deviation: of entries of word embeddings; word_mean: the mean of
    those of text.
    """

    deviations: tuple[Tensor, ...]
    means: tuple[Tensor, ...]
    word_deviation: float
    word_mean: Tensor


def _texts(reference: Reference) -> tuple[list[tuple[str, ...]], str]:
    """The segments of the reference texts, and what they are, in words."""
    if isinstance(reference, str):
        every = list(datasets.get(reference).make("train"))
        spaced = [every[index * len(every) // N_TEXTS] for index in range(N_TEXTS)]
        texts = [example.segments for example in (spaced if len(every) > N_TEXTS else every)]
        source = f"{len(texts)} train texts of {reference}"
    else:
        texts = [example.segments for example in as_examples(list(reference))]
        source = f"{len(texts)} texts of the caller"
    if len(texts) < 2:
        raise BadSetting(
            f"reference={quoted(reference)} has {len(texts)} texts; give two or more, or the name of a data set."
        )
    return texts, source


def _readable(model: Model, text: tuple[str, ...]) -> tuple[str, ...]:
    """The segments as the model reads them: for one that writes, a single text is cut in the middle, and its end is
    written.
    """
    if WRITING not in model.capabilities or len(text) > 1:
        return text
    words = text[0].split()
    middle = (len(words) + 1) // 2
    return " ".join(words[:middle]), " ".join(words[middle:]) or words[-1]


def _measure(model: Model, examples: list[Example]) -> _Measured:
    """One run of the reference texts, without gradients; sums in float64."""
    windows, _ = in_windows(model.encode(examples))
    scheduler, sums = scheduler_for(model), _Sums()

    def add(pack: list[int]) -> None:
        rows = [windows.rows[window] for window in pack]
        trace = model.trace(rows, Want(hidden=True, deepest=model.n_layers))
        lengths = torch.tensor([len(row) for row in rows])
        real = torch.arange(trace.embeddings.shape[1]) < lengths[:, None]
        of_text = torch.zeros_like(real)
        for index, row in enumerate(rows):
            of_text[index, : len(row)] = torch.tensor(row.segments) != SPECIAL
        sums.add([trace.embeddings, *trace.hidden], real.to(model.device), of_text.to(model.device))

    with torch.inference_mode(False), torch.no_grad():
        for pack in scheduler.packs_of(windows.rows):
            scheduler.halving(pack, add)
    return sums.measured(model.name)


class _Sums:
    """Sums over pieces of word embeddings and of each layer's states, and of their squares."""

    def __init__(self) -> None:
        self.count = self.word_count = 0
        self.words: Tensor | float = 0.0
        self.first: list[Tensor] = []
        self.second: list[Tensor] = []

    def add(self, states: Sequence[Tensor], real: Tensor, of_text: Tensor) -> None:
        """states: of each layer [row unit width]; real: [row unit] bool; of_text: real ones that are no special
        tokens.
        """
        pieces = [state[real].double() for state in states]
        first, second = [piece.sum(0) for piece in pieces], [piece.square().sum(0) for piece in pieces]
        self.first = [a + b for a, b in zip(self.first, first, strict=True)] if self.first else first
        self.second = [a + b for a, b in zip(self.second, second, strict=True)] if self.second else second
        self.count += int(real.sum())
        self.words = self.words + states[0][of_text].double().sum(0)
        self.word_count += int(of_text.sum())

    def measured(self, name: str) -> _Measured:
        """The deviations; raises `ModelCannot` where states are not finite."""
        means = [first / self.count for first in self.first]
        squares = [second / self.count for second in self.second]
        if not all(bool(square.isfinite().all()) for square in squares):
            raise ModelCannot(f"Hidden states of {name} on the reference texts are not finite numbers.")
        deviations = [
            (square - mean.square()).clamp_min(0.0).sqrt() for square, mean in zip(squares, means, strict=True)
        ]
        words = float((squares[0].mean() - means[0].mean().square()).clamp_min(0.0).sqrt())
        spread = tuple(deviation.clamp_min(SMALLEST) for deviation in deviations[1:])
        word_mean = torch.as_tensor(self.words) / self.word_count
        return _Measured(spread, tuple(means[1:]), max(words, SMALLEST), word_mean)


# A hidden state as a function of the word embeddings: s = Phi(x), for methods that read states as vectors.
#
# Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 3.


@dataclass(frozen=True, eq=False)
class StateFunction:
    """Phi of one batch: from word embeddings to the explained hidden state of each text.

    points: [example unit width], x, the word embeddings; padding beyond a text has no effect. states: [example place
    width'], s = Phi(x); a place is one state of those that stand side by side, and places beyond a text's own are 0.
    real: [example place] bool, whether a text has this place.
    """

    points: Tensor
    states: Tensor
    real: Tensor
    run: ForwardPass
    readout: StateReadout
    weights: Tensor

    def __call__(self, examples: Sequence[int], points: Tensor) -> Tensor:
        """[len(examples) place width']: Phi at other points [len(examples) unit width], differentiable by the points.

        examples: their numbers in the batch; one may be named several times. Padding beyond the longest named example
        may be missing from the points. Blocks above the layer do not run.
        """
        batch = self.run.batch.select(examples)
        length = max(batch.lengths)
        with torch.set_grad_enabled(points.requires_grad):
            trace = self.run.model.trace(batch.rows, self.readout.want, points[:, :length])
            return _places(self.readout, self.weights[list(examples), :, :length], trace.hidden)


def state_function(run: ForwardPass, target: Explainable) -> StateFunction:
    """Phi of a pass for one layer's states. Raises `BadSetting` for a class, and for several layers at once."""
    if not isinstance(target, ResolvedState):
        raise BadSetting("A class has no hidden state; give target=HiddenState(layer).")
    if len(target.layers) > 1:
        raise BadSetting(f"Layers {target.layers[0]} to {target.layers[-1]} are several; read one at a time.")
    readout, weights = target.readout, place_weights(run, target)
    points, hidden = run.embeddings, run.hidden
    with torch.no_grad():
        states = _places(readout, weights, hidden)
    return StateFunction(points, states, weights.ne(0).any(-1), run, readout, weights)


def place_weights(run: ForwardPass, target: ResolvedState) -> Tensor:
    """[example place unit]: how each explained state is made of the units' states; rows sum to 1, or to 0 beyond a
    text's.
    """
    several = target.hidden_state.positions == EVERY or isinstance(target.hidden_state.positions, tuple)
    places: list[list[list[int]]] = []  # for each example and place, the units whose mean it is
    for row in run.batch.rows:
        units = list(range(len(row))) if target.hidden_state.positions == EVERY else target.readout.pieces(row)
        places.append([[unit] for unit in units] if several else [units])
    shape = (len(places), max(map(len, places)), max(run.batch.lengths))
    weights = torch.zeros(shape, dtype=run.embeddings.dtype)
    for example, of_text in enumerate(places):
        for place, units in enumerate(of_text):
            weights[example, place, units] = 1.0 / max(1, len(units))
    return weights.to(run.model.device)


def _places(readout: StateReadout, weights: Tensor, hidden: Sequence[Tensor]) -> Tensor:
    """[example place width']: the weights' mixtures of a layer's states, in the states' own number type."""
    states = readout.part_of(hidden[readout.layer])
    return weights.to(states) @ states.masked_fill(~weights.ne(0).any(1)[..., None], 0.0)
