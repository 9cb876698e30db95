"""The gradient family written out slowly and literally, for one text of a Hugging Face classifier.

Nothing of ours runs here. Points are [unit width] of word embeddings unless a function says otherwise.
"""

import torch
from torch import Tensor

from tests.reference.attributions import inputs_of, logit_at, word_embeddings


def gradient_at(classifier, segments, label: int, point: Tensor) -> Tensor:
    """[unit width]: the gradient at one point of word-embedding space."""
    leaf = point.clone().requires_grad_()
    value = logit_at(classifier, inputs_of(classifier, segments), leaf[None], label).sum()
    return torch.autograd.grad(value, leaf)[0]


def logit_with_state(classifier, segments, label: int, layer: int, change) -> Tensor:
    """The logit where a hidden state [1 unit width] of an encoder as BERT's goes through a function."""
    blocks = classifier.network.base_model.encoder.layer
    if layer == 0:
        handle = blocks[0].register_forward_pre_hook(lambda _, args: (change(args[0]), *args[1:]))
    else:
        handle = blocks[layer - 1].register_forward_hook(
            lambda _, __, out: (change(out[0]), *out[1:]) if isinstance(out, tuple) else change(out)
        )
    try:
        return classifier.network(**inputs_of(classifier, segments)).logits[0, label]
    finally:
        handle.remove()


def grad_cam_by_differences(classifier, segments, label: int, layer: int, step: float = 1e-5) -> list[float]:
    """For each position: how the logit changes when that position's state is scaled a little."""
    changes = []
    for position in range(inputs_of(classifier, segments)["input_ids"].shape[1]):

        def scaled(factor, position=position):
            def change(state):
                state = state.clone()
                state[:, position] *= factor
                return state

            with torch.no_grad():
                return float(logit_with_state(classifier, segments, label, layer, change))

        changes.append((scaled(1 + step) - scaled(1 - step)) / (2 * step))
    return changes


def state_and_gradient(classifier, segments, label: int, layer: int) -> tuple[Tensor, Tensor]:
    """[unit width] each: a hidden state as the network returns it, and the logit's gradient there."""
    output = classifier.network(**inputs_of(classifier, segments), output_hidden_states=True)
    state = output.hidden_states[layer]
    return state[0].detach(), torch.autograd.grad(output.logits[0, label], state)[0][0]


def smooth(classifier, segments, label: int, noises: list[Tensor]) -> dict[str, Tensor]:
    """[unit] for each form, given the moves themselves."""
    here = word_embeddings(classifier, inputs_of(classifier, segments)["input_ids"])
    gradients = [gradient_at(classifier, segments, label, here + noise) for noise in noises]
    mean = sum(gradients) / len(gradients)
    squared = sum(gradient**2 for gradient in gradients) / len(gradients)
    return {
        "mean": (mean**2).sum(-1) ** 0.5,
        "squared": squared.sum(-1),
        "variance": sum((gradient - mean) ** 2 for gradient in gradients).sum(-1) / len(gradients),
        "times_input": (mean * here).sum(-1),
    }


def expected_gradients(classifier, segments, label: int, blank: Tensor, *, nodes, noises) -> Tensor:
    """[unit]: Erion et al., equation 4, for given nodes of the path and given moves."""
    here = word_embeddings(classifier, inputs_of(classifier, segments)["input_ids"])
    total = torch.zeros_like(here[:, 0])
    for node, noise in zip(nodes, noises, strict=True):
        difference = here + noise - blank
        gradient = gradient_at(classifier, segments, label, blank + node * difference)
        total += (difference * gradient).sum(-1) / len(noises)
    return total


def sequential(classifier, segments, label: int, blank: Tensor, n_steps: int) -> Tensor:
    """[unit]: Enguehard, equations 3 and 4: one piece at a time, midpoints."""
    here = word_embeddings(classifier, inputs_of(classifier, segments)["input_ids"])
    scores = torch.zeros_like(here[:, 0])
    for position in range(len(here)):
        for step in range(n_steps):
            point = here.clone()
            point[position] = blank[position] + (step + 0.5) / n_steps * (here[position] - blank[position])
            gradient = gradient_at(classifier, segments, label, point)
            scores[position] += (gradient[position] * (here[position] - blank[position])).sum() / n_steps
    return scores


def discretised_path(
    word: Tensor, blank: Tensor, table: Tensor, *, steps: int, near: int, strategy: str
) -> list[Tensor]:
    """Sanyal & Ren as their code runs it, one entry at a time: points from the blank to the word."""

    def monotone(here, candidate):
        changed, turned = candidate.clone(), 0
        for d in range(len(candidate)):
            low, high = sorted((float(blank[d]), float(here[d])))
            if not low <= float(candidate[d]) <= high:
                changed[d] = here[d] - (here[d] - blank[d]) / steps
                turned += 1
        return changed, turned

    points, anchor, used = [word], word, []
    for _ in range(steps):
        order = sorted(range(len(table)), key=lambda n: float(((table[n] - anchor) ** 2).sum()))[:near]
        costs = {}
        for number in order:
            same = [torch.equal(table[number], other) for other in (anchor, blank)]
            if number in used or any(same):
                continue
            changed, turned = monotone(anchor, table[number])
            costs[number] = float(((changed - table[number]) ** 2).sum()) if strategy == "greedy" else turned
        if costs:
            best = min(costs, key=lambda number: costs[number])
            used.append(best)
            anchor = table[best]
        else:
            anchor = blank
        points.append(monotone(points[-1], anchor)[0])
    return [blank, *reversed(points)]
