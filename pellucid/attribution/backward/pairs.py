"""DeepLIFT's rules: in one batch the texts come first and their baselines after them, row by row.

Each function is replaced by a linear one that is exact at both the baseline and the text. The gradient through these
linear functions is the multiplier, and multiplier x difference sums to the difference of the outputs. Shrikumar et al.
(2017), "Learning Important Features Through Propagating Activation Differences", equations 3 to 7 (rescale rule). They
give no rule for a product of two changing factors: we take each factor's difference times the other's mean, which is
exact.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.attribution.backward.expanded_functions import (
    FunctionCall,
    depends_on_words,
    flat,
    open_layer_norm,
    open_normalize,
    open_rms_norm,
)
from pellucid.attribution.backward.mode import ChangedBackward, Rule, Rules
from pellucid.attribution.backward.rules import attention, linear_unit
from pellucid.base.errors import ModelCannot

LOWEST_LOG = -1e4  # of a softmax; a masked position has none
ELEMENTWISE = (torch.mul, torch.multiply, Tensor.mul, Tensor.__mul__, Tensor.__rmul__)


def line(path: Tensor, multiplier: Tensor, value: Tensor) -> Tensor:
    """The value, with the gradient of multiplier x path. multiplier: of each pair; text and baseline share it."""
    # Beside each other and not one after another, so that the multiplier is kept once for both.
    moved = path.unflatten(0, (2, -1)) * multiplier
    return carried(value, moved.flatten(0, 1))


def carried(value: Tensor, path: Tensor) -> Tensor:
    """The value, unchanged to the last bit, with the gradient of the path, which may be much larger than the value."""
    return value.detach() + (path - path.detach())


def secant(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """(y - y') / (x - x') for a function of one number; where x is nearly x', the derivative between them."""
    call = call.without("inplace")
    path, *rest = call.args
    inputs = path.detach()
    value = call.value_at(inputs, *rest)
    if inputs.isinf().any():  # masked positions are constants
        path = path.masked_fill(inputs.isinf(), 0.0)
        inputs = path.detach()
    (text, blank), (text_value, blank_value) = inputs.chunk(2), value.chunk(2)
    step, rise = text - blank, text_value - blank_value
    near = _near(step, text.abs() + blank.abs(), rise, text_value)
    multiplier = rise / step.masked_fill(near, 1.0)
    if near.any():
        derivative = _derivative(lambda x: call.value_at(x, *rest), (text + blank) / 2)
        multiplier = torch.where(near, derivative, multiplier)
    return line(path, multiplier, value)


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
    value = call.value_at(*args)
    changing = [n for n, arg in enumerate(args) if depends_on_words(arg)]
    if len(changing) > 2:
        raise ModelCannot("DeepLIFT has no rule for a product of three factors that depend on the text.")
    if len(changing) < 2:
        return value
    left, right = changing
    halves = _fixed_factors(args[left].detach(), args[right].detach(), call.function)
    path = _sum_of_products(call, args, dict(zip(changing, halves, strict=True)))
    return carried(value, path)


def _sum_of_products(call: FunctionCall, args: tuple[Any, ...], halves: dict[int, Tensor]) -> Tensor:
    """Each changing factor times the other's fixed value, added up. halves: fixed values by argument, which a text and
    its baseline share.
    """
    left, right = halves
    if call.function in ELEMENTWISE and len({(len(args[n]), args[n].ndim) for n in halves}) == 1:
        # Beside each other and not one after another, so that a fixed value is kept once for both.
        moved = [args[n].unflatten(0, (2, -1)) * halves[fixed] for n, fixed in ((left, right), (right, left))]
        return (moved[0] + moved[1]).flatten(0, 1)
    both = {n: torch.cat([half, half]) for n, half in halves.items()}
    first = call.value_at(*(both[n] if n == right else arg for n, arg in enumerate(args)))
    second = call.value_at(*(both[n] if n == left else arg for n, arg in enumerate(args)))
    return first + second


def _fixed_factors(left: Tensor, right: Tensor, func: Callable[..., Any]) -> tuple[Tensor, Tensor]:
    """[pair ...]: the value at which each factor is fixed while the other one changes."""
    if func in ELEMENTWISE and left.ndim == right.ndim and 1 in (left.shape[-1], right.shape[-1]):
        if left.shape[-1] < right.shape[-1]:
            return _fixed_by_size(right, left)[::-1]
        if right.shape[-1] < left.shape[-1]:
            return _fixed_by_size(left, right)
    return _mean(left), _mean(right)


def _fixed_by_size(vector: Tensor, factor: Tensor) -> tuple[Tensor, Tensor]:
    """A norm's factor is fixed at the smaller of its two values, and the vector at its value beside the larger one.

    That is exact too. It avoids differences of huge numbers where a baseline is near 0 and its factor is huge.
    """
    (text, blank), (text_factor, blank_factor) = vector.chunk(2), factor.chunk(2)
    smaller = text_factor.abs() <= blank_factor.abs()
    fixed_vector = torch.where(smaller, blank, text)
    fixed_factor = torch.where(smaller, text_factor, blank_factor)
    return fixed_vector, fixed_factor


def _mean(factor: Tensor) -> Tensor:
    text, blank = factor.chunk(2)
    return (text + blank) / 2


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
    path = scores.to(value.dtype)
    path = path.masked_fill(path.detach() <= torch.finfo(path.dtype).min / 4, 0.0)  # masked positions are constants
    logs = scores.detach().to(value.dtype).log_softmax(dim).clamp_min(LOWEST_LOG)
    (text, blank), (log_text, log_blank) = value.chunk(2), logs.chunk(2)
    log_step = log_text - log_blank
    near = log_step.abs() <= torch.finfo(log_step.dtype).eps ** 0.5
    mean = torch.where(near, (text + blank) / 2, (text - blank) / log_step.masked_fill(near, 1.0))
    both = torch.cat([mean, mean])
    moved = both * (path - (both * path).sum(dim, keepdim=True) / both.sum(dim, keepdim=True))
    return carried(value, moved)


def maximum(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """One position gets the whole difference: that of the text's maximum or of the baseline's, whichever is larger."""
    path, dim = call.args[0], call.argument("dim", 1)
    if not isinstance(dim, int):
        return call.value()
    text, blank = path.detach().chunk(2)
    text_max, blank_max = (half.amax(dim, keepdim=True) for half in (text, blank))
    in_text, in_blank = (half.argmax(dim, keepdim=True) for half in (text, blank))
    position = torch.where(text_max >= blank_max, in_text, in_blank)
    step = (text - blank).gather(dim, position)
    multiplier = torch.where(step == 0, 0.0, (text_max - blank_max) / step)
    at_position = path.gather(dim, torch.cat([position, position]))
    output = line(at_position, multiplier, torch.cat([text_max, blank_max]))
    return output if call.argument("keepdim", 2) else output.squeeze(dim)


def choice(mode: ChangedBackward, call: FunctionCall) -> Tensor:
    """Rows picked by number stay pairs, unless a mixture of experts sends each piece to experts of its own."""
    index = call.args[-1] if call.args[1:] else call.kwargs["index"]
    by_number = isinstance(index, Tensor) and index.dtype != torch.bool
    in_front = call.function is Tensor.__getitem__ or 0 in (*call.args[1:2], call.kwargs.get("dim"))
    if by_number and in_front and not _pairs(index.flatten(), len(call.args[0]), call.function):
        raise ModelCannot(
            "DeepLIFT has no rule for networks that send each piece to experts of its own: a text and its baseline "
            "would be read by different ones; use integrated_gradients."
        )
    return call.value()


def _pairs(rows: Tensor, count: int, func: Callable[..., Any]) -> bool:
    """Whether the second half of the rows are the first half's baselines; packing a batch reorders all rows, which is
    undone.
    """
    half = len(rows) // 2
    if 2 * half == len(rows) and torch.equal(rows[half:], rows[:half] + count // 2):
        return True
    every = torch.arange(count, device=rows.device)
    return func is not Tensor.__getitem__ and len(rows) == count and torch.equal(rows.sort().values, every)


def opened(written_out: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that runs the function written out, so that each of its steps follows its own rule."""

    def rule(mode: ChangedBackward, call: FunctionCall) -> Tensor:
        with mode:
            return written_out(*call.args, **call.kwargs)

    return rule


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
    "layer_norm": opened(open_layer_norm),
    "scaling": scaling,
    "linear": midpoint,
    "linear_unit": linear_unit,
}
# The rule for picking rows has a check of its own: an LSTM's states have their texts in the second dimension.
RESCALE: Rules = {kind: rule if kind == "choice" else _of_pairs(rule) for kind, rule in _RULES.items()}
