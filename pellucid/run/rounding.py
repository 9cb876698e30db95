"""Number types: what a model computes in, and what rounding changes in its answers, by a trial."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from pellucid.base.torch_state import autocast_types, without_autocast
from pellucid.run.batch import Row
from pellucid.run.model import WRITING, Model
from pellucid.run.readout import LOGITS
from pellucid.run.target import Explainable
from pellucid.run.trace import Want
from pellucid.run.windows import rows_of
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL

# How far a pass that we explain may be from the model's own answer, relative to the answer.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}
SHORT = (torch.float16, torch.bfloat16)


def coarsest(dtypes: Iterable[torch.dtype]) -> torch.dtype:
    """Of several number types the one with the largest steps."""
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps)


def widened(values: Tensor) -> Tensor:
    """The same numbers in float32 at least."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def resolution(dtype: torch.dtype, least: float) -> float:
    """A sum below this share of its terms' size may be nothing but rounding: one step of the type, and at least
    `least`.
    """
    return max(least, torch.finfo(dtype).eps)


def rounding(dtype: torch.dtype) -> float:
    """How large rounding may be, relative to 1, after a whole pass: half of the type's digits are lost."""
    return torch.finfo(dtype).eps ** 0.5


def quotient(above: Tensor, below: Tensor) -> Tensor:
    """above / below for below >= 0; 0 where below is 0 or too small to divide by."""
    above, below = widened(above), widened(below)
    least = torch.finfo(below.dtype).tiny
    return torch.where(below >= least, above / below.clamp_min(least), 0.0)


def is_short(network: nn.Module) -> bool:
    """Whether some of the network's weights have sixteen bits."""
    return any(parameter.dtype in SHORT for parameter in network.parameters())


class InWiderNumbers(TorchFunctionMode):
    """While active, every function gets float32 instead of sixteen-bit tensors, or float64 instead of both; autocast
    rounds nothing.

    It serves trials whose outcome rounding would hide, and the end of a pass whose answers are subtracted. Weights are
    widened one call at a time: the network itself stays as it is, also for other threads, and nothing of its size is
    copied.
    """

    def __init__(self, wide: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.wide = wide
        self.narrow = (*SHORT, torch.float32) if wide == torch.float64 else SHORT

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[Any, Any] | None = None
    ) -> object:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") == "__get__":  # an attribute: nothing to compute
            return self._wide_type(func(*args, **kwargs))
        if func is not F.embedding:  # a look-up is exact, and its weights are the largest
            args, kwargs = tree_map(self._wide, args), tree_map(self._wide, kwargs)
        with without_autocast():
            return tree_map(self._wide, func(*args, **kwargs))

    def _wide(self, value: object) -> object:
        if isinstance(value, Tensor):
            return value.to(self.wide) if value.dtype in self.narrow else value
        return self._wide_type(value)

    def _wide_type(self, value: object) -> object:
        return self.wide if isinstance(value, torch.dtype) and value in self.narrow else value


# Rounding: what a model's number type alone changes in its answers, by a trial of two texts, once for each model and
# precision.
#
# In sixteen bits, or under autocast, the same weights give other answers than in exact arithmetic, and a score that
# is the difference of two answers may be nothing else. So the trial runs two texts and some edits of them twice: as
# the model computes, and with every product in a wider type. No list of names can tell which passes are short: a
# wrapped forward may round inside. The texts are always the same, and sizes are powers of two, so that what is
# measured depends on no neighbour of an explained text.

TEXTS = (
    "The plot was thin, but I liked the actors and the music.",
    "Nobody answered, so we left after an hour and never came back.",
)
WRITTEN = "Thank you."
N_EDITS = 4  # of each text
N_PIECES = 4  # that show whether a pass in float32 is one; more would only take longer
SAFETY = 1.5  # times the largest change that eight edits show
# Steps of the type that a pass loses: float32 rounds every sum, sixteen bits only what is stored between two sums.
STEPS = {torch.float64: 16, torch.float32: 16, torch.bfloat16: 2, torch.float16: 2}
GRADIENTS = 2.0  # times the share of answers: a gradient goes through the network twice


@dataclass(frozen=True)
class Rounding:
    """What rounding may change; 19 of 20 numbers change by less.

    dtype: the coarsest number type in which the model computes. answers: of the difference of two answers, at least.
    share: the same as a share of the largest answer of a row. wide_head: whether edited texts are answered with what
    follows the last block in float32 (`Want.wide_head`), which makes it less. only_measured: whether the trial alone
    shows the type, since weights and contexts name a wider one.
    """

    dtype: torch.dtype
    answers: float
    share: float
    wide_head: bool = False
    only_measured: bool = False

    @property
    def type_name(self) -> str:
        """In what the model computes, in words."""
        return "numbers coarser than float32" if self.only_measured else str(self.dtype).removeprefix("torch.")

    def of_values(self, target: Explainable, answers: Tensor) -> Tensor:
        """[example]: what rounding may change of the difference of two explained values, in their unit.

        answers: [example answer], what the values are computed from.
        """
        with torch.inference_mode(False), torch.enable_grad():
            inputs = answers.detach().double().requires_grad_()
            values = target.values(inputs)
            gradient = torch.autograd.grad(values.sum(), inputs)[0] if values.requires_grad else inputs * 0
        largest = inputs.detach().abs().amax(-1, keepdim=True)
        steps = self._of_answers(largest, target.readout is LOGITS)
        moved = (gradient.nan_to_num(0.0, 0.0, 0.0) * steps).norm(dim=-1)
        # Values are subtracted in float32, and a probability or a loss comes from sums that are about 1.
        own_type = torch.finfo(torch.float32).eps * values.detach().abs().clamp_min(1.0)
        return torch.maximum(moved, own_type).nan_to_num(0.0, 0.0)

    def _of_answers(self, largest: Tensor, are_logits: bool) -> Tensor:
        """What rounding may change of an answer's difference: as measured, or one step of the type at the size of the
        answer.
        """
        if not (are_logits and self.answers):
            return self.share * largest
        step = 0.0 if self.wide_head else torch.finfo(self.dtype).eps
        return (step * largest).clamp_min(self.answers)

    @property
    def gradients(self) -> float:
        """What rounding may change of a score made of gradients, as a share of the text's largest."""
        return GRADIENTS * self.share


def rounding_of(model: Model) -> Rounding:
    """What rounding may change in this model as it computes now: tried once for each model and precision."""
    key = _precision(model)
    if key not in model.roundings:
        model.roundings[key] = _by_trial(model)
    rounding: Rounding = model.roundings[key]
    return rounding


def number_type(model: Model, dtype: torch.dtype) -> torch.dtype:
    """The coarsest type in which the model computes; it may be coarser than the type in which it answers, dtype."""
    return coarsest([dtype, rounding_of(model).dtype])


def tolerance(model: Model, dtype: torch.dtype) -> float:
    """The largest residual allowed between two passes of the model that should agree; dtype: of its answers."""
    return TOLERANCE[number_type(model, dtype)]


def of_type(dtype: torch.dtype) -> Rounding:
    """What a number type usually loses in a pass."""
    share = STEPS[dtype] * torch.finfo(dtype).eps
    return Rounding(dtype, 0.0, share)


def _precision(model: Model) -> tuple[object, ...]:
    """Everything that decides in which number type a pass is computed."""
    network = getattr(model, "network", None)
    if network is None:
        return ()
    types, wrapped = set(), []
    for module in network.modules():
        types |= {parameter.dtype for parameter in module._parameters.values() if parameter is not None}
        if "forward" in module.__dict__:  # accelerate puts autocast around it
            wrapped.append(id(module.__dict__["forward"]))
    precision = torch.get_float32_matmul_precision()
    return frozenset(types), autocast_types(), precision, model.device.type, tuple(wrapped)


def _by_trial(model: Model) -> Rounding:
    network = getattr(model, "network", None)
    if network is None:  # a function's own rounding is nobody's to know
        return of_type(torch.float32)
    types = {parameter.dtype for parameter in network.parameters() if parameter.is_floating_point()}
    weights = coarsest(types or {torch.float32})  # quantised weights are whole numbers
    computed = coarsest([weights, *(dtype for kind, dtype in autocast_types() if kind == model.device.type)])
    mixed = getattr(model, "computes_in", None)
    usual = of_type(coarsest([computed, *([] if mixed is None else [mixed])]))
    try:
        with torch.inference_mode(False), torch.no_grad():
            return _measured(model, usual)
    except Exception:
        return usual  # the texts may be none for the user's own functions, and kernels may know one type only


def _measured(model: Model, usual: Rounding) -> Rounding:
    """The rounding that a trial shows, or the usual of the type where it shows no more than float32's."""
    if usual.dtype == torch.float64:
        return usual
    texts = _trial_rows(model)
    if usual.dtype == torch.float32:
        if _is_as_named(model, texts[0][0], usual):
            return usual
        usual = replace(of_type(torch.bfloat16), only_measured=True)  # the coarsest that it may be
    rows = [row for of_text in texts for row in of_text]
    plain, wide, exact = _finite(
        *(_answers(model, rows, want) for want in (Want(), Want(wide_head=True))), _exact(model, rows)
    )
    sizes = [len(of_text) for of_text in texts]
    moved, moved_wide = (_changes(answers - exact, sizes) for answers in (plain, wide))
    gains = bool(moved_wide.square().mean() <= moved.square().mean()) and not torch.equal(plain, wide)
    measured = SAFETY * float((moved_wide if gains else moved).abs().max())
    size = float(exact.abs().amax(-1).mean())
    share = _power_of_two(measured / size) if size > 0 else usual.share
    # States and gradients lose about what the type's steps are, however large or small the answers made of them.
    share = min(max(share, usual.share / 2), 2 * usual.share)
    return replace(usual, answers=_power_of_two(measured), share=share, wide_head=gains)


def _is_as_named(model: Model, row: Row, usual: Rounding) -> bool:
    """Whether a pass rounds no more than the type that weights and contexts name."""
    short = row if WRITING in model.capabilities else row.keep(range(min(len(row), N_PIECES))).closed()
    plain, exact = _finite(_answers(model, [short], Want()), _exact(model, [short]))
    return float((plain - exact).abs().max()) <= usual.share * max(1.0, float(exact.abs().max()))


def _exact(model: Model, rows: list[Row]) -> Tensor:
    """[row logit]: the answers with every product in a wider type, by PyTorch itself."""
    rounds_float32 = model.device.type == "cuda" or torch.get_float32_matmul_precision() != "highest"
    wide = torch.float64 if rounds_float32 else torch.float32
    with InWiderNumbers(wide):
        return _answers(model, rows, Want(eager=True))


def _finite(*answers: Tensor) -> tuple[Tensor, ...]:
    """The answers [row logit] without logits that are infinite: a class may be masked."""
    keeps = torch.stack([each.isfinite() for each in answers]).all(0).all(0)
    return tuple(each[:, keeps] for each in answers)


def _answers(model: Model, rows: list[Row], want: Want) -> Tensor:
    """[row logit], row by row: some networks read no padding."""
    return torch.cat([model.trace([row], want).logits.double() for row in rows])


def _trial_rows(model: Model) -> list[list[Row]]:
    """For each of the two texts its row and edits of it, each without another part."""
    writes = WRITING in model.capabilities
    examples = [Example((text, WRITTEN) if writes else (text,), id="trial") for text in TEXTS]
    rows = [rows_of(row)[0] for row in model.encode(examples).rows]  # of a small network the first window
    return [[row, *_edits(row, writes)] for row in rows]


def _edits(row: Row, writes: bool) -> list[Row]:
    read = [n for n, segment in enumerate(row.segments) if segment == 0 or (segment != SPECIAL and not writes)]
    step = max(1, len(read) // N_EDITS)
    parts = [set(read[first : first + 2]) for first in range(0, len(read), step)][:N_EDITS]
    return [row.keep([n for n in range(len(row)) if n not in part]).closed() for part in parts]


def _changes(errors: Tensor, sizes: list[int]) -> Tensor:
    """[edit logit]: what rounding changes of the difference between a text and its edit; errors: [row logit], text
    after text.
    """
    return torch.cat([of_text[:1] - of_text[1:] for of_text in errors.split(sizes)])


def _power_of_two(value: float) -> float:
    """The next power of two: the last digits of a measured size differ from machine to machine."""
    return 2.0 ** math.ceil(math.log2(value)) if value > 0 else 0.0
