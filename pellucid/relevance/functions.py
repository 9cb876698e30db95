"""Kinds of torch's functions: a policy needs one rule for all functions of a kind."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.relevance.recurrent import gated

# One number in, one number out; f(0) is a number.
ACTIVATIONS = (
    F.gelu, F.silu, F.mish, F.elu, F.celu, F.selu, F.leaky_relu, F.softplus, F.softsign, F.tanhshrink,
    F.relu, torch.relu, Tensor.relu, F.relu6, F.hardtanh, F.hardswish, F.hardsigmoid,
    torch.tanh, Tensor.tanh, F.tanh, torch.sigmoid, Tensor.sigmoid, F.sigmoid, torch.erf, Tensor.erf,
    torch.exp, Tensor.exp, torch.expm1, torch.square, Tensor.square, torch.sqrt, Tensor.sqrt, torch.abs, Tensor.abs,
    torch.clamp, Tensor.clamp, torch.clip, torch.log1p,
)  # fmt: skip
KINDS: dict[str, tuple[Callable, ...]] = {
    "activation": ACTIVATIONS,
    "power": (torch.pow, Tensor.pow, Tensor.__pow__),
    "inverse": (torch.rsqrt, Tensor.rsqrt, torch.reciprocal, Tensor.reciprocal),
    "layer_norm": (F.layer_norm, torch.layer_norm),
    "scaling": (F.rms_norm, torch.rms_norm, F.normalize),  # x times something that depends on x
    "batch_norm": (F.batch_norm, torch.batch_norm),
    "softmax": (F.softmax, torch.softmax, Tensor.softmax),
    "attention": (F.scaled_dot_product_attention,),
    "linear": (F.linear, torch.addmm, F.conv1d, F.conv2d, torch.conv1d, torch.conv2d),
    "product": (
        torch.mul, torch.multiply, Tensor.mul, Tensor.mul_, Tensor.__mul__, Tensor.__rmul__, Tensor.__imul__,
        torch.matmul, Tensor.matmul, Tensor.__matmul__, Tensor.__rmatmul__, torch.bmm, Tensor.bmm, torch.mm, Tensor.mm,
        torch.einsum, torch.mv, Tensor.mv, torch.dot, Tensor.dot, torch.outer, F.bilinear,
    ),
    "quotient": (
        torch.div, torch.divide, torch.true_divide, Tensor.div, Tensor.divide, Tensor.true_divide, Tensor.div_,
        Tensor.__truediv__, Tensor.__rtruediv__, Tensor.__itruediv__,
    ),
    "sum": (
        torch.add, torch.sub, torch.subtract, torch.rsub, Tensor.add, Tensor.sub, Tensor.add_, Tensor.sub_,
        Tensor.__add__, Tensor.__radd__, Tensor.__iadd__, Tensor.__sub__, Tensor.__rsub__, Tensor.__isub__,
    ),
    "choice": (Tensor.__getitem__, torch.index_select, Tensor.index_select),
    "join": (torch.cat, torch.concat, torch.concatenate, torch.stack),
    "maximum": (torch.amax, Tensor.amax),
    "linear_unit": (F.glu,),
    "gate": (gated,),
}  # fmt: skip
KIND_OF = {function: kind for kind, functions in KINDS.items() for function in functions}
