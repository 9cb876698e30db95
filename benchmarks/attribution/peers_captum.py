"""captum: as its README and tutorials show it, one text a call with its defaults; and tuned.

Tuned is the fastest use we know of: gradients of eight texts of like length together, paths and perturbations of one
text in calls of about 512 tokens, perturbations without a graph.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from captum.attr import (
    DeepLiftShap,
    GradientShap,
    InputXGradient,
    IntegratedGradients,
    KernelShap,
    Lime,
    NoiseTunnel,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)

from benchmarks.attribution.reading import FULL, Missing, Read, Reader

TOGETHER = 8
Explain = Callable[[Reader, Read, int, dict[str, Any]], Any]


def prepare(reader: Reader, method: str, settings: dict[str, Any], tuned: bool) -> Callable[[list[str]], None]:
    """A function of texts that explains each of them."""
    if method not in METHODS:
        raise Missing(f"captum has no {method}.")
    explain = METHODS[method]
    together = TOGETHER if tuned and method in ("gradient", "gradient_x_input") else 1

    def run(texts: Sequence[str]) -> None:
        texts = sorted(texts, key=len) if together > 1 else texts
        for at in range(0, len(texts), together):
            read = reader.read(texts[at : at + together])
            each = max(1, FULL // read.ids.shape[1]) if tuned else 0  # rows a call; 0: captum's default
            explain(reader, read, each, settings)

    return run


def _gradient(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
    return Saliency(reader.by_words).attribute(
        reader.words(read.ids), target=read.labels, additional_forward_args=read.rest
    )


def _gradient_x_input(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
    return InputXGradient(reader.by_words).attribute(
        reader.words(read.ids), target=read.labels, additional_forward_args=read.rest
    )


def _integrated_gradients(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
    return IntegratedGradients(reader.by_words).attribute(
        reader.words(read.ids),
        baselines=reader.words(reader.blank(read.ids)),
        target=read.labels,
        additional_forward_args=read.rest,
        internal_batch_size=each or None,
        **settings,
    )


def _smooth_gradient(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
    return NoiseTunnel(Saliency(reader.by_words)).attribute(
        reader.words(read.ids),
        target=read.labels,
        additional_forward_args=read.rest,
        nt_samples_batch_size=min(each, settings["nt_samples"]) or None,
        **settings,
    )


def _gradient_shap(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
    return GradientShap(reader.by_words).attribute(
        reader.words(read.ids),
        baselines=reader.words(reader.blank(read.ids)),
        target=read.labels,
        additional_forward_args=read.rest,
        **settings,
    )


class _ByWords(torch.nn.Module):
    """The network from word embeddings to logits as a module, which DeepLIFT asks for."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.network, self.by_words = reader.network, reader.by_words

    def forward(self, words: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        """[text class] logits."""
        return self.by_words(words, *rest)


def _deep_lift_shap(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
    words, pads = reader.words(read.ids), reader.words(reader.blank(read.ids))
    zeros = torch.where((reader.blank(read.ids) == read.ids)[..., None], words, 0.0)
    return DeepLiftShap(_ByWords(reader)).attribute(
        words,
        baselines=torch.cat([zeros, pads]),
        target=read.labels,
        additional_forward_args=read.rest,
        **settings,
    )


def _perturbing(kind: type, **always: Any) -> Explain:
    """Methods that replace tokens by the blank's."""

    def explain(reader: Reader, read: Read, each: int, settings: dict[str, Any]) -> Any:
        with torch.set_grad_enabled(not each):
            return kind(reader.by_ids).attribute(
                read.ids,
                baselines=reader.blank(read.ids),
                target=read.labels,
                additional_forward_args=read.rest,
                perturbations_per_eval=each or 1,
                **always,
                **settings,
            )

    return explain


METHODS: dict[str, Explain] = {
    "gradient": _gradient,
    "gradient_x_input": _gradient_x_input,
    "integrated_gradients": _integrated_gradients,
    "smooth_gradient": _smooth_gradient,
    "gradient_shap": _gradient_shap,
    "deep_lift_shap": _deep_lift_shap,
    "occlusion": _perturbing(Occlusion, sliding_window_shapes=(1,)),
    "kernel_shap": _perturbing(KernelShap),
    "lime": _perturbing(Lime),
    "thermostat_lime": _perturbing(Lime),
    "shapley_sampling": _perturbing(ShapleyValueSampling),
}
