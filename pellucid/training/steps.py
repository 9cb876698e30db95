"""The steps of a training run: which texts each takes; loss, gradients, clipping, learning rates and AdamW."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import routes
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.families.probes import set_dropout
from pellucid.models.pooling.span_attention import all_spans_weigh
from pellucid.models.routing.trial import Route, route_class
from pellucid.run.batch import Batch, Row
from pellucid.run.module_hooks import hook_output
from pellucid.run.scheduler import Scheduler
from pellucid.training.objective import (
    Objective,
    ObjectiveContext,
    StepPart,
    learnt_instead_of_labels,
    objectives_of,
)
from pellucid.training.recipe import Recipe
from pellucid.training.span_count import span_count_of
from pellucid.training.training_loss import TrainingLoss, balancing_weights, gold_numbers, word_choice_loss

POOL = 16  # so many batches' texts are sorted by length before they are cut into batches


def epoch_batches(lengths: Sequence[int], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """The indices of each batch of one epoch: shuffled by the seed, each text once, texts of similar length in one
    batch.

    They depend on these four arguments alone.
    """
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches = []
    for first in range(0, len(order), batch_size * POOL):
        pool = sorted(order[first : first + batch_size * POOL], key=lambda index: lengths[index])
        batches += [pool[start : start + batch_size] for start in range(0, len(pool), batch_size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]


@dataclass(frozen=True)
class Steps:
    """What every step of a run needs.

    gold: the labels of the batch as `gold_numbers` gives them. full_rates: the highest learning rate of each group of
    parameters. total: how many steps the run has. route: how the network is computed. objectives: what is learnt
    besides, with their weights.
    """

    classifier: Classifier
    batch: Batch
    recipe: Recipe
    training_loss: TrainingLoss
    gold: Tensor
    optimizer: torch.optim.Optimizer
    full_rates: Sequence[float]
    total: int
    route: Route
    objectives: Sequence[tuple[float, Objective]] = ()

    def step(self, indices: list[int], done: int) -> float:
        """Make one optimizer step on these texts, after `done` steps; returns the mean loss.

        Long texts are computed a few at a time, so that memory does not grow with the batch. Losses and penalties are
        means over texts, so the gradients of the parts add up to that of the whole batch. (The exceptions are the price
        of reading of a model that chooses words, which depends on the share that each part reads, and that of spans, on
        their number.)
        """
        for group, rate in zip(self.optimizer.param_groups, self.full_rates, strict=True):
            group["lr"] = rate * rate_share(done, self.total, self.recipe.warmup)
        self.optimizer.zero_grad()
        loss = sum(self._backward(part, len(part) / len(indices), done) for part in self._parts(indices))
        if self.recipe.clip > 0:
            torch.nn.utils.clip_grad_norm_(self.classifier.network.parameters(), self.recipe.clip)
        self.optimizer.step()
        self.training_loss.end_step()
        return loss

    def _parts(self, indices: list[int]) -> list[list[int]]:
        """The indices in parts that fit the memory at once."""
        lengths = [self.batch.lengths[index] for index in indices]
        if len(lengths) * max(lengths) <= LONGEST:
            return [indices]
        packs = Scheduler(LONGEST).packs(lengths)
        return [[indices[position] for position in pack] for pack in packs]

    def _backward(self, indices: list[int], share: float, done: int) -> float:
        """Add the gradients of one part, weighted by its share of the batch's texts; returns its weighted loss."""
        device, objectives = self.classifier.device, self._objectives_at(done)
        rows = [self.batch.rows[index] for index in indices]
        sharp = done >= self.recipe.sharp_from * self.total
        with ExitStack() as contexts:
            if objectives:
                contexts.enter_context(self._passes_share(rows))
            if not sharp:
                contexts.enter_context(all_spans_weigh(self.classifier.network.pooler))
            with self.recipe.autocast(device):
                inputs = self.classifier.place(rows)
                with self.route.training():
                    output = self.classifier.network(**inputs)
            loss = self.training_loss.loss(output, self.gold[indices].to(device), sharp) + self._cost_of_weights()
            for weight, objective in objectives:
                loss = loss + weight * objective.losses(StepPart(indices, output, done)).mean()
        loss = share * loss
        if not torch.isfinite(loss):
            raise BadSetting(
                f"Training diverged at step {done + 1}; give less than learning_rate={self.recipe.learning_rate}."
            )
        loss.backward()
        return float(loss.detach())

    def _objectives_at(self, done: int) -> Sequence[tuple[float, Objective]]:
        """The objectives that are learnt in a step, after `done` steps."""
        return self.objectives if done >= self.recipe.objectives_from * self.total else ()

    @contextmanager
    def _passes_share(self, rows: Sequence[Row]) -> Iterator[None]:
        """Objectives read the texts in further passes: inside, all passes share word vectors and 16-bit copies of the
        weights.
        """
        special = self.batch.special
        ids = {each for row in rows for each in row.ids}
        ids |= {each for each in (special.mask, special.pad) if each is not None}
        # The outer context, which by itself changes no number, holds the copies until the last pass.
        with (
            torch.autocast(self.classifier.device.type, enabled=False),
            shared_lookups(self.classifier.network.get_input_embeddings(), ids),
        ):
            yield

    def _cost_of_weights(self) -> Tensor | float:
        """Recipe.l2 times the sum of all squared weights; the parts of a batch add up to it once."""
        if not self.recipe.l2:
            return 0.0
        weights = [each for each in self.classifier.network.parameters() if each.requires_grad]
        return self.recipe.l2 * torch.stack([each.float().square().sum() for each in weights]).sum()


def steps_of(classifier: Classifier, batch: Batch, recipe: Recipe, total: int) -> Steps:
    """The steps on a batch of train texts, so many in total, with a fresh optimizer."""
    prepare(classifier, recipe)
    optimizer = optimizer_of(classifier, recipe)
    word_choice = word_choice_loss(classifier.network, total)
    gold = gold_numbers(batch.examples, classifier.labels, classifier.problem)
    weights = balancing_weights(gold, len(classifier.labels)) if recipe.balanced else None
    return Steps(
        classifier,
        batch,
        recipe,
        TrainingLoss(
            classifier.problem,
            recipe.penalties,
            word_choice,
            recipe.label_smoothing,
            weights,
            labels=not learnt_instead_of_labels(recipe),
            span_count=span_count_of(recipe.spans, total),
        ),
        gold,
        optimizer,
        [group["lr"] for group in optimizer.param_groups],
        total,
        route_of_steps(classifier, recipe),
        objectives_of(ObjectiveContext(classifier, batch, recipe)),
    )


def route_of_steps(classifier: Classifier, recipe: Recipe) -> Route:
    """The recipe's route for the network; raises `BadSetting` where it cannot compute here: its bytes would be
    others.
    """
    facts, route = routes.get(recipe.route).facts, route_class(recipe.route)
    device = classifier.device.type
    if not facts["trains"]:
        lacks = "it computes no steps of training"
    elif facts["devices"] and device not in facts["devices"]:
        lacks = f"it does not compute on {device}"
    else:
        lacks = route.lacks()
    if lacks:
        raise BadSetting(f"route={recipe.route!r} is not possible: {lacks}; give route='eager'.")
    return route(classifier.network)


def rate_share(done: int, total: int, warmup: float) -> float:
    """The share of the full rate at a step: up in a line during the warm-up, then down in a line to 0."""
    rising = max(1, round(warmup * total))
    return (done + 1) / rising if done < rising else (total - done) / max(1, total - rising)


# How a pretrained encoder is changed: at which rates each part learns, what stays as it was, and without which
# dropout.


def prepare(classifier: Classifier, recipe: Recipe) -> None:
    """Set the encoder's dropout, and keep its word vectors from learning, as the recipe says."""
    if recipe.dropout is not None:
        set_dropout(classifier.network.encoder, recipe.dropout)
    if recipe.freeze_vectors:
        for parameter in classifier.network.encoder.get_input_embeddings().parameters():
            parameter.requires_grad_(False)


def optimizer_of(classifier: Classifier, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW; no weight decay for biases and norms, a rate of their own for new parts and for each of the encoder's
    blocks.
    """
    depths = {} if recipe.layer_decay == 1 else depths_below_the_top(classifier)
    groups: dict[tuple[bool, int, bool], list[Tensor]] = {}
    for name, parameter in classifier.network.named_parameters():
        if parameter.requires_grad:
            key = (name.startswith("encoder."), -depths.get(name, 0), parameter.ndim > 1)
            groups.setdefault(key, []).append(parameter)
    rates = [
        {
            "params": parameters,
            "lr": recipe.learning_rate * (recipe.layer_decay**-depth if pretrained else recipe.new_parts_factor),
            "weight_decay": recipe.weight_decay if matrix else 0.0,
        }
        for (pretrained, depth, matrix), parameters in sorted(groups.items())
    ]
    # On a processor the unfused step took a third of MiniLM's training time, the fused one a tenth.
    return torch.optim.AdamW(rates, betas=(0.9, recipe.beta2), fused=True)


def depths_below_the_top(classifier: Classifier) -> dict[str, int]:
    """Parameter of the encoder -> how many blocks lie above it: 0 for the last block and what follows it.

    What stands in front of the first block, such as word vectors, lies below all of them. Raises `ModelCannot` where
    the encoder shows no blocks.
    """
    blocks = {id(parameter): n for n, block in enumerate(classifier.blocks) for parameter in block.parameters()}
    names = [
        (name, blocks.get(id(parameter)))
        for name, parameter in classifier.network.named_parameters()
        if name.startswith("encoder.")
    ]
    # Modules are listed in the order in which they were made: what lies between two blocks belongs to the lower one.
    reached = accumulate((-1 if block is None else block for _, block in names), max)
    return {name: len(classifier.blocks) - 1 - block for (name, _), block in zip(names, reached, strict=True)}


# One table of the word vectors that a step looks up, for all its passes.
#
# The gradient of a look-up is as large as the whole vocabulary, however few words are read; a step that reads its
# texts several times would make one such gradient for each pass. On MiniLM that was a fifth of a plain step.

NOT_READ = -1


@contextmanager
def shared_lookups(embedding: nn.Module, ids: Iterable[int]) -> Iterator[None]:
    """Inside, look-ups of these ids read one small table, whose gradient reaches the module's weight once; no number
    changes.

    A look-up with another id goes to the module as before, and so does every look-up of a module that does more than
    looking up.
    """
    if not isinstance(embedding, nn.Embedding) or not _only_looks_up(embedding):
        yield
        return
    weight, padding = embedding.weight, embedding.padding_idx
    read = torch.tensor(sorted(set(ids)), dtype=torch.long, device=weight.device)
    places = torch.full((len(weight),), NOT_READ, device=weight.device)
    places[read] = torch.arange(len(read), device=weight.device)
    table = F.embedding(read, weight, padding)
    padding_place = None if padding is None or places[padding] == NOT_READ else int(places[padding])

    def from_table(_: nn.Module, arguments: tuple[Tensor, ...], output: Tensor) -> Tensor:
        wanted = places[arguments[0]] if arguments else None
        if wanted is None or (wanted == NOT_READ).any():
            return output
        return F.embedding(wanted, table, padding_place)

    remove = hook_output(embedding, from_table)
    try:
        yield
    finally:
        remove()


def _only_looks_up(embedding: nn.Embedding) -> bool:
    """Whether the module's answer is its rows of the weight, and nothing more."""
    return type(embedding) is nn.Embedding and embedding.max_norm is None and not embedding.scale_grad_by_freq
