"""Masked words: guess hidden pieces from their states, so that a state keeps saying which word it stands for."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import between, one_of
from pellucid.base.errors import BadInput
from pellucid.base.kinds import objectives
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.rounding import widened
from pellucid.text.units import SPECIAL
from pellucid.training.objective import ObjectiveContext, StepPart

# Hiding pieces of a row for a masked-language-model head to guess.
#
# Devlin et al. (2019), "BERT", section 3.1, where of the hidden pieces 80 % become the mask token, 10 % another
# piece, and 10 % stay. Here 60 % stay. A lens learns for minutes and reads texts without masks; with 80 % masks too
# few pieces teach it to name what stands there: after 400 steps it named 45 % of MiniLM's own pieces first, and with
# 30 % masks 91 %.

LENS_AS_MASK, LENS_AS_OTHER = 0.3, 0.1  # of the hidden pieces; the others stay


@dataclass(frozen=True)
class Masking:
    """How rows are masked.

    share: of a row's pieces of text, at least one. mask: the id of the mask token; None where the tokenizer has none:
    then another piece stands in its place. vocabulary: [piece], the ids that another piece is drawn from. seed: a whole
    number. as_mask, as_other: the shares of the hidden pieces that become the mask and another piece.
    """

    share: float
    mask: int | None
    vocabulary: Tensor
    seed: int
    as_mask: float = LENS_AS_MASK
    as_other: float = LENS_AS_OTHER

    def masked(self, row: Row, reading: int) -> tuple[Row, list[int]]:
        """The masked row, and the numbers of its hidden pieces, in order.

        reading: how often the row was read before. The draws depend on the seed, on this number and on the row's own
        ids.
        """
        generator = generator_for(row, f"masks of reading {reading}", self.seed)
        content = content_of(row)
        count = max(1, round(self.share * len(content)))
        hidden = sorted(content[index] for index in torch.randperm(len(content), generator=generator)[:count].tolist())
        draws = torch.rand(count, generator=generator).tolist()
        others = self.vocabulary[torch.randint(len(self.vocabulary), (count,), generator=generator)].tolist()
        ids = list(row.ids)
        for piece, draw, random_id in zip(hidden, draws, others, strict=True):
            if draw < self.as_mask + self.as_other:
                ids[piece] = random_id if draw >= self.as_mask or self.mask is None else self.mask
        return replace(row, ids=tuple(ids)), hidden


FEWEST = 2  # pieces of text in a row: one is hidden, another says what it may be


def content_of(row: Row) -> list[int]:
    """The numbers of a row's pieces of text; special tokens are none."""
    return [index for index, segment in enumerate(row.segments) if segment != SPECIAL]


AS_MASK, AS_OTHER = 0.8, 0.1  # of the hidden pieces; the others stay
HIGHEST_SHARE = 0.9


@objectives.add("masked_words", reads="states", same_width=True, freezes=True)
class MaskedWords:
    """Cross-entropy of hidden pieces, in nats, given the encoder's last states of the text in which they are hidden.

    Source: Tutek & Šnajder (2020), "Staying True to Your Word", section 3.2: 15 % of the pieces are
    hidden, of which 80 % become the mask token, 10 % another piece and 10 % stay; the decoder is the
    frozen table of word vectors (corrections.md A4.7).

    The softmax is over the pieces that occur in the train texts, its logits are h . e with their word vectors e, plus
    the logarithm of how frequent the piece is there. The paper does not say whether its decoder adds anything; without
    these constants all states must first learn the frequencies, and on SST-2 with weight 1 the labels were not learnt
    in four epochs. A text of one piece has nothing to guess it from and costs 0.

    share: of a text's pieces that are hidden, at least one; 0.01 to 0.9. Which ones hangs on the seed, the step and the
    text. reduction: "mean" over a text's hidden pieces, or their "sum", which is the paper's (its footnote 5), so that
    long texts count more. frequencies: whether the logits have the logarithms; the paper's have none. Of both the mean
    over texts is learnt. Raises `BadInput` where no train text has two pieces, `BadSetting` for another reduction.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        share: float = 0.15,
        reduction: Literal["mean", "sum"] = "mean",
        frequencies: bool = True,
    ) -> None:
        between("share", share, 0.01, HIGHEST_SHARE)
        one_of("reduction", reduction, ("mean", "sum"))
        self.reduction = reduction
        self.context = context
        rows = [row for row in context.train.rows if len(content_of(row)) >= FEWEST]
        if not rows:
            raise BadInput(
                f"The objective masked_words finds no train text of {FEWEST} pieces or more, of which one could be "
                f"hidden; give longer texts, or leave the objective away."
            )
        classifier = context.classifier
        self.pieces = torch.tensor(sorted({row.ids[piece] for row in rows for piece in content_of(row)}))
        self.class_of = {piece: index for index, piece in enumerate(self.pieces.tolist())}
        mask = classifier.blank_ids()["mask"]
        self.masking = Masking(share, mask, self.pieces, context.recipe.seed, AS_MASK, AS_OTHER)
        counts = Counter(row.ids[piece] for row in rows for piece in content_of(row))
        occurrences = torch.tensor([float(counts[piece]) for piece in self.pieces.tolist()])
        log_shares = (occurrences / occurrences.sum()).log()
        self.log_frequencies = (log_shares if frequencies else torch.zeros_like(log_shares)).to(classifier.device)
        self.pieces = self.pieces.to(classifier.device)

    @property
    def table(self) -> Tensor:
        """[id width]: the decoder, which is the network's own table of word vectors."""
        # The weight itself, without a call of the module: hooks that replace or record word embeddings see their own
        # look-ups.
        return self.context.classifier.network.get_input_embeddings().weight

    def losses(self, part: StepPart) -> Tensor:
        """[example]: the mean or summed cross-entropy of a text's hidden pieces, 0 or more."""
        rows, hidden = self.masked(part)
        if not any(hidden):
            return part.output.logits.new_zeros(len(rows))
        classifier = self.context.classifier
        with self.context.autocast():
            states = classifier.network.states(classifier.place(rows)["pieces"])
        examples = [index for index, pieces in enumerate(hidden) for _ in pieces]
        places = [piece for pieces in hidden for piece in pieces]
        classes = [
            self.class_of[self.context.train.rows[index].ids[piece]]
            for index, pieces in zip(part.indices, hidden, strict=True)
            for piece in pieces
        ]
        products = widened(states[examples, places]) @ widened(F.embedding(self.pieces, self.table)).T
        logits = products + self.log_frequencies.to(products)
        losses = F.cross_entropy(logits, torch.tensor(classes, device=logits.device), reduction="none")
        of_text = losses.split([len(pieces) for pieces in hidden])
        sums = torch.stack([each.sum() for each in of_text])
        return sums if self.reduction == "sum" else sums / sums.new_tensor([max(1, len(pieces)) for pieces in hidden])

    def masked(self, part: StepPart) -> tuple[list[Row], list[list[int]]]:
        """The texts with some pieces hidden, and the numbers of these pieces."""
        pairs = [
            self.masking.masked(row, part.done) if len(content_of(row)) >= FEWEST else (row, [])
            for row in self.context.rows(part.indices)
        ]
        return [row for row, _ in pairs], [pieces for _, pieces in pairs]
