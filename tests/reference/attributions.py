"""Attribution methods written out slowly and literally, for one text of a Hugging Face classifier.

Nothing of ours runs here: the tokenizer's own tensors, the network's own forward, one loop a formula.
"""

import numpy as np
import torch
from torch import Tensor


def inputs_of(classifier, segments) -> dict[str, Tensor]:
    """What the user would pass."""
    return dict(classifier.tokenizer(*segments, return_tensors="pt"))


def content_of(classifier, segments) -> list[list[int]]:
    """The positions of each text's pieces, without special tokens."""
    numbers = classifier.tokenizer(*segments).sequence_ids(0)
    return [[position for position, number in enumerate(numbers) if number == text] for text in range(len(segments))]


def word_embeddings(classifier, ids: Tensor) -> Tensor:
    """[unit width]."""
    return classifier.network.get_input_embeddings().weight.detach()[ids[0]]


def logit_at(classifier, inputs, embeddings: Tensor, label: int) -> Tensor:
    """[variant]: the class's logit where the word embeddings are [variant unit width]."""
    expanded = {name: value.expand(len(embeddings), -1) for name, value in inputs.items()}
    handle = classifier.network.get_input_embeddings().register_forward_hook(lambda *_: embeddings)
    config = classifier.network.config
    named = config.pad_token_id
    config.pad_token_id = -1 if named is None else named  # rows of one length, none of them padded
    try:
        return classifier.network(**expanded).logits[:, label]
    finally:
        handle.remove()
        config.pad_token_id = named


def gradient_by_differences(classifier, segments, label: int, step: float = 1e-5) -> Tensor:
    """[unit width]: the gradient by central differences, one number of one embedding at a time."""
    inputs = inputs_of(classifier, segments)
    here = word_embeddings(classifier, inputs["input_ids"])
    moves = torch.eye(here.numel(), dtype=here.dtype).reshape(-1, *here.shape) * step
    with torch.no_grad():
        ahead = logit_at(classifier, inputs, here + moves, label)
        behind = logit_at(classifier, inputs, here - moves, label)
    return ((ahead - behind) / (2 * step)).reshape(here.shape)


def gradient_x_input(classifier, segments, gradient: Tensor) -> Tensor:
    """[unit]: each embedding's inner product with its gradient [unit width]."""
    return (gradient * word_embeddings(classifier, inputs_of(classifier, segments)["input_ids"])).sum(-1)


def pad_of(classifier) -> int:
    """The padding token, or the end-of-text token of a tokenizer that has none."""
    tokenizer = classifier.tokenizer
    return tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id


def without(classifier, inputs, removed) -> Tensor:
    """[logit]: the answer where nothing attends to the removed positions; those at the end are cut off.

    A text without any token is one padding token.
    """
    mask = inputs["attention_mask"].clone()
    mask[0, list(removed)] = 0
    if not mask.any():
        return classifier.network(input_ids=torch.tensor([[pad_of(classifier)]])).logits[0]
    length = int(mask[0].nonzero().max()) + 1
    return classifier.network(
        **{name: column[:, :length] for name, column in {**inputs, "attention_mask": mask}.items()}
    ).logits[0]


def blanked(classifier, segments, baselines: str) -> Tensor:
    """[unit width]: the embeddings with every content piece's replaced by the baseline's."""
    blank = word_embeddings(classifier, inputs_of(classifier, segments)["input_ids"]).clone()
    weight = classifier.network.get_input_embeddings().weight.detach()
    numbers = {"pad": pad_of(classifier), "mask": classifier.tokenizer.mask_token_id}
    for positions in content_of(classifier, segments):
        for position in positions:
            blank[position] = 0 if baselines == "zero" else weight[numbers[baselines]]
    return blank


def integrated_gradients(classifier, segments, label: int, n_steps: int, baselines: str) -> Tensor:
    """Equation 1 as a loop: the midpoint of each step, one backward pass each."""
    inputs = inputs_of(classifier, segments)
    here, blank = word_embeddings(classifier, inputs["input_ids"]), blanked(classifier, segments, baselines)
    total = torch.zeros_like(here)
    for step in range(n_steps):
        point = (blank + (step + 0.5) / n_steps * (here - blank)).requires_grad_()
        (gradient,) = torch.autograd.grad(logit_at(classifier, inputs, point[None], label).sum(), point)
        total += gradient / n_steps
    return ((here - blank) * total).sum(-1)


def occlusion(classifier, segments, label: int, window: int) -> list[float]:
    """Each piece's mean fall over its windows; removed pieces keep their positions, but nothing attends to them."""
    inputs = inputs_of(classifier, segments)
    falls: dict[int, list[float]] = {position: [] for position in range(inputs["input_ids"].shape[1])}
    with torch.no_grad():
        whole = classifier.network(**inputs).logits[0, label]
        for positions in content_of(classifier, segments):
            width = min(window, len(positions))
            for first in range(len(positions) - width + 1):
                removed = positions[first : first + width]
                rest = without(classifier, inputs, removed)[label]
                for position in removed:
                    falls[position].append(float(whole - rest))
    return [float(np.mean(of_piece)) if of_piece else 0.0 for of_piece in falls.values()]
