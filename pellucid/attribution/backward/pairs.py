"""DeepLIFT's rules: in one batch the texts come first and their baselines after them, all of one kind below each other.

Each function is replaced by a linear one that is exact at both the baseline and the text. The gradient through these
linear functions is the multiplier, and multiplier x difference sums to the difference of the outputs. A text and its
baseline have the same multipliers, so they go back in the baselines' rows alone: several baselines share the text's
way forward, and nothing goes back through the texts' rows, whose gradients are 0. Shrikumar et al. (2017), "Learning
Important Features Through Propagating Activation Differences", equations 3 to 7 (rescale rule). They give no rule for a
product of two changing factors: we take each factor's difference times the other's mean, which is exact.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F

from pellucid.attribution.backward.expanded_functions import (
    FunctionCall,
    depends_on_words,
    flat,
    open_normalize,
    open_rms_norm,
)
from pellucid.attribution.backward.mode import ChangedBackward, Rule, Rules
from pellucid.attribution.backward.paired_steps import (
    LOWEST_LOG,
    attention,
    baselines_of,
    layer_norm,
    logarithmic_mean,
    opened,
    parted,
)
from pellucid.attribution.backward.rules import linear_unit
from pellucid.base.errors import ModelCannot

ELEMENTWISE = (torch.mul, torch.multiply, Tensor.mul, Tensor.__mul__, Tensor.__rmul__)


def line(mode: ChangedBackward, path: Tensor, multiplier: Tensor, value: Tensor) -> Tensor:
    """The value, with the gradient of multiplier x path. multiplier: [baseline pair ...]."""
    moved = baselines_of(path, mode.parts).unflatten(0, (mode.parts - 1, -1)) * multiplier
    return carried(value, moved.flatten(0, 1))


def carried(value: Tensor, path: Tensor) -> Tensor:
    """The value, unchanged to the last bit, whose baselines' rows have the gradient of the path."""
    output: Tensor = _Carried.apply(path, (value,))
    return output


class _Carried(Function):
    """A value that was computed apart from the path that its gradient takes."""

    keeps_relevance = True

    @staticmethod
    def forward(ctx: Any, path: Tensor, value: tuple[Tensor]) -> Tensor:
        ctx.rows = len(path)
        return value[0]  # in a tuple, since a tensor that comes in would come out as a view, which forbids changes

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient[len(gradient) - ctx.rows :], None


def secant(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """(y - y') / (x - x') for a function of one number; where x is nearly x', the derivative between them."""
    call = call.without("inplace")
    path, *rest = call.args
    inputs = path.detach()
    value = call.value_at(inputs, *rest)
    size = _largest(inputs)
    if size == torch.inf:  # masked positions are constants
        path = path.masked_fill(inputs.isinf(), 0.0)
        inputs = path.detach()
        size = _largest(inputs)
    multiplier = _secants(inputs, value, mode.parts, size, lambda x: call.value_at(x, *rest))
    return line(mode, path, multiplier, value)


def _largest(inputs: Tensor) -> float:
    """The largest size of a number."""
    return max(float(end.abs()) for end in torch.aminmax(inputs)) if inputs.numel() else 0.0


def _secants(inputs: Tensor, value: Tensor, parts: int, size: float, func: Callable[..., Any]) -> Tensor:
    """[baseline pair ...]: multipliers from the numbers of text and baseline; size: the largest of these numbers."""
    (text, blank), (text_value, blank_value) = parted(inputs, parts), parted(value, parts)
    step = text - blank
    multiplier = (text_value - blank_value).div_(step).contiguous()
    # Few steps are small, and only these are looked at closely.
    small = _places(step.abs_() <= torch.finfo(step.dtype).eps ** 0.5 * (1 + 2 * size))
    of_text = small % text.numel()
    text, text_value = text.flatten()[of_text], text_value.flatten()[of_text]
    blank, blank_value = blank.flatten()[small], blank_value.flatten()[small]
    near = _near(text - blank, text.abs() + blank.abs(), text_value - blank_value, text_value)
    every = multiplier.view(-1)
    every[small] = torch.where(near, _derivative(func, (text + blank) / 2), every[small])
    return multiplier


def _places(mask: Tensor) -> Tensor:
    """[place]: where a mask is true, counted through all its dimensions; of few places numpy has them much sooner."""
    if mask.device.type != "cpu":
        return mask.flatten().nonzero()[:, 0]
    return torch.from_numpy(np.flatnonzero(mask.numpy()))


def _near(step: Tensor, size: Tensor, rise: Tensor, value: Tensor) -> Tensor:
    """Where a quotient would be rounding: the step is small next to x, or it is small and y changes by its rounding
    only.
    """
    eps = torch.finfo(step.dtype).eps
    return (step.abs() <= eps**0.5 * size) | ((step.abs() <= eps**0.5) & (rise.abs() <= 100 * eps * value.abs()))


def _derivative(func: Callable[..., Any], point: Tensor) -> Tensor:
    with torch.enable_grad():
        leaf = point.requires_grad_()
        return torch.autograd.grad(func(leaf).sum(), leaf)[0]


def power(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A constant power is a function of one number."""
    if any(depends_on_words(exponent) for exponent in (*call.args[1:], *call.kwargs.values())):
        raise ModelCannot("DeepLIFT has no rule for a power whose exponent depends on the text.")
    return secant(mode, call)


def midpoint(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """xy - x'y' = (x - x') mean(y) + (y - y') mean(x); or with other values than the means, see `_fixed_by_size`."""
    args = flat(call.args) if call.function is torch.einsum else call.args
    changing = [n for n, arg in enumerate(args) if depends_on_words(arg)]
    if len(changing) > 2:
        raise ModelCannot("DeepLIFT has no rule for a product of three factors that depend on the text.")
    if len(changing) < 2:
        return call.value_at(*args)
    left, right = changing
    value = call.value_at(*(arg.detach() if n in changing else arg for n, arg in enumerate(args)))
    fixed = _fixed_factors(args[left].detach(), args[right].detach(), call.function, mode.parts)
    return carried(value, _sum_of_products(call, args, dict(zip(changing, fixed, strict=True)), mode.parts))


def _sum_of_products(call: FunctionCall, args: tuple[Any, ...], fixed: dict[int, Tensor], parts: int) -> Tensor:
    """Of the baselines' rows each changing factor times the other's fixed value, added up. fixed: [baseline pair ...],
    by argument.
    """
    left, right = fixed
    rows = {n: value.flatten(0, 1) for n, value in fixed.items()}
    paths = {n: baselines_of(args[n], parts) for n in fixed}
    whole = any(isinstance(arg, Tensor) and n not in fixed for n, arg in enumerate(args))
    if whole:  # a constant beside them may have rows of its own
        paths = {n: args[n] for n in fixed}
        rows = {n: torch.cat([value[: len(args[n]) // parts], value]) for n, value in rows.items()}
    first = call.value_at(*(rows[n] if n == right else paths.get(n, arg) for n, arg in enumerate(args)))
    second = call.value_at(*(rows[n] if n == left else paths.get(n, arg) for n, arg in enumerate(args)))
    return baselines_of(first + second, parts) if whole else first + second


def _fixed_factors(left: Tensor, right: Tensor, func: Callable[..., Any], parts: int) -> tuple[Tensor, Tensor]:
    """[baseline pair ...]: the value at which each factor is fixed while the other one changes."""
    if func in ELEMENTWISE and left.ndim == right.ndim and 1 in (left.shape[-1], right.shape[-1]):
        if left.shape[-1] < right.shape[-1]:
            return _fixed_by_size(right, left, parts)[::-1]
        if right.shape[-1] < left.shape[-1]:
            return _fixed_by_size(left, right, parts)
    return _mean(left, parts), _mean(right, parts)


def _fixed_by_size(vector: Tensor, factor: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    """A norm's factor is fixed at the smaller of its two values, and the vector at its value beside the larger one.

    That is exact too. It avoids differences of huge numbers where a baseline is near 0 and its factor is huge.
    """
    (text, blank), (text_factor, blank_factor) = parted(vector, parts), parted(factor, parts)
    smaller = text_factor.abs() <= blank_factor.abs()
    fixed_vector = torch.where(smaller, blank, text)
    fixed_factor = torch.where(smaller, text_factor, blank_factor)
    return fixed_vector, fixed_factor


def _mean(factor: Tensor, parts: int) -> Tensor:
    text, blank = parted(factor, parts)
    return (text + blank) / 2


LAYERS = {F.linear: 0, torch.addmm: 1}  # and where their input stands


def linear(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A linear layer as it is, of the texts without a way back; a layer whose weight changes too is a product."""
    place = LAYERS.get(call.function)
    changing = [n for n, arg in enumerate(call.args) if depends_on_words(arg)]
    if place is None or changing != [place] or any(arg.ndim > 1 for arg in call.args[:place]):
        return midpoint(mode, call)
    before, path, rest = call.args[:place], call.args[place], call.args[place + 1 :]
    texts = path.detach()[: len(path) // mode.parts]
    return torch.cat([call.value_at(*before, rows, *rest) for rows in (texts, baselines_of(path, mode.parts))])


def quotient(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A product with an inverse, which is a function of one number."""
    above, below = call.args[:2] if call.function is not Tensor.__rtruediv__ else call.args[1::-1]
    if not depends_on_words(below):
        return call.value()
    with mode:
        return below.reciprocal() * above


def gate(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A gate and its signal are the two factors of a product."""
    with mode:
        return call.args[0] * call.args[1]


def softmax(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """s - s' = l (x - x' - sum of l (x - x') / sum of l), with l the logarithmic mean of s and s'.

    This is the plain Jacobian with l instead of s. It is exact, since l (log s - log s') = s - s', which sums to 0.
    """
    scores, *rest = call.args
    value = call.value_at(scores.detach(), *rest)
    dim = call.argument("dim", 1)
    path = baselines_of(scores, mode.parts).to(value.dtype)
    path = path.masked_fill(path.detach() <= torch.finfo(path.dtype).min / 4, 0.0)  # masked positions are constants
    logs = scores.detach().to(value.dtype).log_softmax(dim).clamp_min(LOWEST_LOG)
    mean = logarithmic_mean(*parted(value, mode.parts), *parted(logs, mode.parts)).flatten(0, 1)
    moved = mean * (path - (mean * path).sum(dim, keepdim=True) / mean.sum(dim, keepdim=True))
    return carried(value, moved)


def maximum(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """One position gets the whole difference: that of the text's maximum or of the baseline's, whichever is larger."""
    path, dim = call.args[0], call.argument("dim", 1)
    if not isinstance(dim, int):
        return call.value()
    dim %= path.ndim
    highest, where = path.detach().max(dim, keepdim=True)
    (text, blank), (text_max, blank_max) = (parted(each, mode.parts) for each in (path.detach(), highest))
    in_text, in_blank = parted(where, mode.parts)
    position = torch.where(text_max >= blank_max, in_text, in_blank)
    step = (text - blank).gather(dim + 1, position)
    multiplier = torch.where(step == 0, 0.0, (text_max - blank_max) / step)
    moved = baselines_of(path, mode.parts).gather(dim, position.flatten(0, 1)) * multiplier.flatten(0, 1)
    output = carried(highest, moved)
    return output if call.argument("keepdim", 2) else output.squeeze(dim)


def choice(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Rows picked by number stay pairs, unless a mixture of experts sends each piece to experts of its own."""
    index = call.args[-1] if call.args[1:] else call.kwargs["index"]
    by_number = isinstance(index, Tensor) and index.dtype != torch.bool
    in_front = call.function is Tensor.__getitem__ or 0 in (*call.args[1:2], call.kwargs.get("dim"))
    if by_number and in_front and not _pairs(index.flatten(), len(call.args[0]), call.function, mode.parts):
        raise ModelCannot(
            "DeepLIFT has no rule for networks that send each piece to experts of its own: a text and its baseline "
            "would be read by different ones; use integrated_gradients."
        )
    return call.value()


def _pairs(rows: Tensor, count: int, func: Callable[..., Any], parts: int) -> bool:
    """Whether the rows of every baseline are those of the texts below; packing a batch reorders all rows, which is
    undone.
    """
    if len(rows) % parts == 0:
        groups = rows.unflatten(0, (parts, -1))
        below = torch.arange(parts, device=rows.device)[:, None] * (count // parts)
        if torch.equal(groups, groups[:1] + below):
            return True
    every = torch.arange(count, device=rows.device)
    return func is not Tensor.__getitem__ and len(rows) == count and torch.equal(rows.sort().values, every)


def scaling(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """A norm without a mean, or what a layer of its own does of that kind, written out."""
    usual = open_normalize if call.function is F.normalize else open_rms_norm
    return opened(getattr(call.function, "steps", usual))(mode, call)


def _of_pairs(rule: Rule) -> Rule:
    """The rule with a check: raises `ModelCannot` where a tensor's first dimension is not texts and then their
    baselines.
    """

    def checked(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        if any(path.shape[:1].numel() % mode.ledger.n_examples for path in call.paths):
            raise ModelCannot(
                "DeepLIFT pairs texts with their baselines in the first dimension of every tensor, and this network "
                "puts another dimension before its texts; use integrated_gradients or relevance."
            )
        return rule(mode, call)

    return checked


_RULES: Rules = {
    "activation": secant,
    "inverse": secant,
    "power": power,
    "product": midpoint,
    "quotient": quotient,
    "gate": gate,
    "maximum": maximum,
    "choice": choice,
    "softmax": softmax,
    "attention": attention,
    "layer_norm": layer_norm,
    "scaling": scaling,
    "linear": linear,
    "linear_unit": linear_unit,
}
# The rule for picking rows has a check of its own: an LSTM's states have their texts in the second dimension.
RESCALE: Rules = {kind: rule if kind == "choice" else _of_pairs(rule) for kind, rule in _RULES.items()}
