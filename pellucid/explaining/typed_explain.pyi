"""`pellucid.explain`, one overload a method. Made by `make fix` from the methods' files; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from pellucid.explaining.explained_texts import OnError
from pellucid.explaining.inputs.chats import Template
from pellucid.explaining.inputs.readings import Data, ModelSource, Passages
from pellucid.results.results import Results
from pellucid.run.hidden_target import HiddenState
from pellucid.run.target import Output, TargetName
from pellucid.run.word import Word
from pellucid.text.label_map import LabelMap
from pellucid.text.passages import Rest

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["allennlp_integrated"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_steps: int = 10,
) -> Results:
    """Size of integrated gradients of the loss, from zero embeddings of all pieces, special tokens too; sums to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["allennlp_simple"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """Size of the inner product of each piece's word embedding with the loss's gradient; sums to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["allennlp_smooth"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_samples: int = 10,
    layer: int | None = None,
) -> Results:
    """Size of the sum over the embedding of the loss's mean gradient, under noise of 1 % of the spread; sums to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["attention"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    flow: Literal["last_layer", "mean", "rollout", "tracing"] = "last_layer",
    heads: Literal["mean", "chain"] = "mean",
    residual: bool = False,
) -> Results:
    """Weight of each piece in the row that the classifier reads; a text's weights, special tokens included, sum to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["attention_gradient"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    flow: Literal["mean", "last_layer", "rollout"] = "mean",
    positive: bool = False,
) -> Results:
    """Attention times the target's gradient by it, summed over the positions that look at a piece; mean of the heads."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["attention_heads"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """One row of weights a head, called "block.head" from 1.1 up, in the row that the classifier reads; rows sum to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["attention_norm"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    flow: Literal["last_layer", "rollout"] = "last_layer",
) -> Results:
    """Size of the vector that each piece sends, over all heads, to the position that the classifier reads; >= 0."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["b_cos"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """Contribution of each piece to the target; all pieces of a text, special ones too, add up to its logit exactly."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["chance"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_draws: int = 20,
    unit: Literal["piece", "word", "sentence", "paragraph"] = "word",
) -> Results:
    """Uniform random scores between 0 and 1, n_draws rankings of every text: rows of kind "draw"."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["decoded_saliency"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    score: str = "grad_cam",
    layer: int | str = "late",
    tau: int | None = None,
) -> Results:
    """A word's score is the sum over a layer's positions of their scores times the chance that the head names the word there."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["deep_lift_shap"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    baselines: tuple[Literal["zero", "pad", "mask", "mean"], ...] = ("zero", "pad"),
) -> Results:
    """Share the target's rise over blanked texts among the pieces; signed, and 0 at special tokens."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["discretised_integrated_gradients"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_steps: int = 30,
    baselines: Literal["zero", "pad", "mask", "mean"] = "pad",
    strategy: Literal["greedy", "max_count"] = "greedy",
    n_neighbours: int = 500,
    rule: Literal["midpoint", "left"] = "midpoint",
) -> Results:
    """Share the target's rise along a path of n_steps anchors, changed so that no entry of an embedding turns back."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["gaussian_process_shapley"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    unit: Literal["piece", "word", "sentence", "paragraph"] = "word",
    n_samples: int = 128,
    operator: Literal["absent", "mask", "pad", "delete"] = "absent",
) -> Results:
    """Share the target's rise, from the text without its units to the text, among the units: expected Shapley values."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["grad_cam"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    layer: int | str = "late",
    pool_gradients: bool = False,
    relu: bool = True,
) -> Results:
    """For each position of a layer, ReLU of the inner product of its hidden state and the target's gradient there."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["gradient"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    norm: Literal["l2", "l1", "sum"] = "l2",
    layer: int | None = None,
) -> Results:
    """The size of the target's gradient by each piece's word embedding."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["gradient_shap"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_samples: int = 20,
    baselines: Literal["zero", "pad", "mask", "mean", "uniform"] = "pad",
    n_baselines: int = 5,
    noise: float = 0.0,
    even: bool = True,
    layer: int | None = None,
) -> Results:
    """Mean over samples of (text - blank text) times the gradient at a random point between the two."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["gradient_x_input"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    norm: Literal["sum", "l2"] = "sum",
    layer: int | None = None,
) -> Results:
    """Inner product of each piece's word embedding with the target's gradient there; signed."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["guan_gradient"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_entries: int = 128,
) -> Results:
    """The mean of |d state / d embedding| over the entries of the state and of each piece's embedding; 0 or more."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["guan_perturbation"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    penalty: float = 0.1,
    n_steps: int = 200,
    tolerance: float = 0.001,
    reference: str | tuple[str, ...] = "pocket",
) -> Results:
    """How much of each piece must stay for a hidden state to stay, in [0, 1]."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["guan_relevance"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    policy: str = "cp",
    policy_settings: Mapping[str, object] | None = None,
) -> Results:
    """The sum over a piece's embedding of |relevance|, where each entry of the state starts with its own value; 0 or more."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["information_bottleneck"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    layer: int | None = None,
    beta: float = 10.0,
    n_steps: int = 10,
    n_samples: int = 10,
    n_seeds: int = 2,
    rate: float = 1.0,
    reference: str | tuple[str, ...] = "pocket",
) -> Results:
    """How many nats of each piece's state must pass for the explained class to keep its probability; 0 or more."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["integrated_gradients"] = ...,
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_steps: int = 32,
    tolerance: float | None = None,
    baselines: Literal["zero", "pad", "mask", "mean", "uniform"] = "pad",
    n_baselines: int = 5,
    rule: Literal["midpoint", "gauss_legendre", "left"] = "midpoint",
    layer: int | None = None,
) -> Results:
    """Share the target's rise, from the blanked text to the text, among the pieces."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["kernel_shap"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    unit: Literal["piece", "word", "sentence", "paragraph"] = "word",
    n_samples: int = 512,
    operator: Literal["absent", "mask", "pad", "delete"] = "absent",
) -> Results:
    """Share the target's rise, from the text without its units to the text, among the units: Shapley values by a fit."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["leave_one_out"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    unit: Literal["piece", "word", "sentence", "paragraph"] = "word",
    operator: Literal["absent", "mask", "pad", "delete"] = "absent",
) -> Results:
    """`occlusion` with windows of one unit: the target of the text minus that of the text without the unit."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["lime"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    unit: Literal["piece", "word", "sentence", "paragraph"] = "word",
    n_samples: int = 512,
    operator: Literal["absent", "mask", "pad", "delete"] = "absent",
    kernel_width: float = 25.0,
    alpha: float = 1.0,
) -> Results:
    """The coefficients of a ridge regression that predicts the target from which units are present, near the text."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["occlusion"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    unit: Literal["piece", "word", "sentence", "paragraph"] | Literal["span"] = "word",
    window: int = 1,
    max_width: int = 4,
    operator: Literal["absent", "mask", "pad", "delete"] = "absent",
) -> Results:
    """The target's fall when a window of neighbouring units is taken out, averaged over a unit's windows."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["preservation_mask"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    penalty: float = 0.1,
    n_steps: int = 200,
    tolerance: float = 0.001,
    baselines: Literal["zero", "pad", "mask", "mean"] = "mean",
) -> Results:
    """How much of each piece must stay for the target to keep its value, in [0, 1]."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["rationale"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """The probability, 0 to 1, that the model reads a word; it reads those above one half, and no others."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["relevance"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    policy: str = "cp",
    layer: int | None = None,
    reduce: Literal["sum", "abs"] = "sum",
    epsilon: float | None = None,
    alpha: float | None = None,
    policy_settings: Mapping[str, object] | None = None,
) -> Results:
    """Share of the target's value that came from each piece; signed."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["retained_information"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    rate: float = 0.1,
    scale: float | None = None,
    reference: str | tuple[str, ...] = "pocket",
    n_seeds: int = 3,
    n_steps: int = 68,
    n_probes: int = 16,
) -> Results:
    """How much of each piece a hidden state holds, in nats: log(scale / sigma), 0 or more, for one dimension of its embedding."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["sequential_integrated_gradients"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_steps: int = 5,
    baselines: Literal["zero", "pad", "mask", "mean"] = "pad",
    rule: Literal["midpoint", "gauss_legendre", "left"] = "gauss_legendre",
) -> Results:
    """For each piece the rise of the target while it alone goes from blank to itself, by the gradient along the path."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["shapley_sampling"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    unit: Literal["piece", "word", "sentence", "paragraph"] = "word",
    n_permutations: int = 24,
    tolerance: float | None = None,
    operator: Literal["absent", "mask", "pad", "delete"] = "absent",
    draws: Literal["antithetic", "independent"] = "antithetic",
) -> Results:
    """Share the target's rise, from the text without its units to the text, among the units by Shapley's axioms."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["smooth_gradient"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    form: Literal["mean", "squared", "variance"] = "mean",
    n_samples: int = 20,
    noise: float = 0.03,
    antithetic: bool | None = None,
    times_input: bool = False,
    norm: Literal["l2", "l1", "sum"] = "l2",
    layer: int | None = None,
) -> Results:
    """The target's gradient by each piece's word embedding, over n_samples texts whose embeddings were moved at random."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["span_attention"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    random_spans: int = 5,
) -> Results:
    """The weight alpha of every span; the weights of a text are >= 0 and sum to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["thermostat_gradient_shap"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """`gradient_shap` with n_samples=5, even=False, baselines="pad", noise=0, layer=0."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["thermostat_gradient_x_activation"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """`gradient_x_input` with layer=0."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["thermostat_integrated_gradients"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """`integrated_gradients` with n_steps=25, rule="gauss_legendre", baselines="pad", layer=0."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["thermostat_lime"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_samples: int = 25,
) -> Results:
    """Ridge coefficients that predict the target from which pieces are present, by n_samples random texts; see `lime`."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["thermostat_occlusion"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """`occlusion` with unit "piece", window 3 and operator "pad"; unlike theirs, special tokens are never replaced."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["thermostat_shapley_sampling"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    n_permutations: int = 25,
) -> Results:
    """`shapley_sampling` with unit "piece", operator "pad" and independent draws; special tokens are never replaced."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["unit_attention"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    by: Literal["weight", "norm"] = "weight",
) -> Results:
    """The weight alpha of every unit; the weights of a text are >= 0 and sum to 1."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: Literal["wu_ong_lrp"],
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
) -> Results:
    """Sum of the sizes of the relevance that their rules hand down to each piece's embedding, behind its norm; >= 0."""

@overload
def explain(
    model: ModelSource,
    texts: Data,
    method: str,
    *,
    target: TargetName | HiddenState | Word = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    on_error: OnError = "raise",
    answer: str | Sequence[str] | None = None,
    template: Template | None = None,
    passages: Passages | None = None,
    rest: Rest = "together",
    workers: int = 1,
    progress: bool | None = None,
    **settings: Any,
) -> Results:
    """A method of another package, or one not named here."""
