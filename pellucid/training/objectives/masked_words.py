"""Masked words: guess hidden pieces from their states, so that a state keeps saying which word it stands for.

Tutek & Šnajder (2020), "Staying True to Your Word", section 3.2: 15 % of the pieces are hidden, of which 80 % become the mask
token, 10 % another piece and 10 % stay; the decoder is the frozen table of word vectors (corrections.md A4.7).
"""

from collections import Counter

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import between
from pellucid.base.errors import BadInput
from pellucid.base.kinds import objectives
from pellucid.run.batch import Row
from pellucid.run.precision import widened
from pellucid.training.lens.head_loss import FEWEST, Masking, content_of
from pellucid.training.objective import ObjectiveContext, StepPart

AS_MASK, AS_OTHER = 0.8, 0.1  # of the hidden pieces; the others stay
HIGHEST_SHARE = 0.9


@objectives.add("masked_words", reads="states", same_width=True, freezes=True)
class MaskedWords:
    """Cross-entropy of hidden pieces, in nats, given the encoder's last states of the text in which they are hidden.

    The softmax is over the pieces that occur in the train texts, its logits are h . e with their word vectors e, plus the
    logarithm of how frequent the piece is there. The paper does not say whether its decoder adds anything; without these
    constants all states must first learn the frequencies, and on SST-2 with weight 1 the labels were not learnt in four epochs.
    Unlike the paper's, the mean is taken over a text's hidden pieces and then over texts, so that long texts computed in parts have the
    loss of the whole batch. A text of one piece has nothing to guess it from and costs 0.

    share: of a text's pieces that are hidden, at least one; 0.01 to 0.9. Which ones hangs on the seed, the step and the text.
    Raises `BadInput` where no train text has two pieces.
    """

    def __init__(self, context: ObjectiveContext, *, share: float = 0.15) -> None:
        between("share", share, 0.01, HIGHEST_SHARE)
        self.context = context
        rows = [row for row in context.train.rows if len(content_of(row)) >= FEWEST]
        if not rows:
            raise BadInput(
                f"The objective masked_words finds no train text of {FEWEST} pieces or more, of which one could be hidden; give "
                "longer texts, or leave the objective away."
            )
        classifier = context.classifier
        self.pieces = torch.tensor(sorted({row.ids[piece] for row in rows for piece in content_of(row)}))
        self.class_of = {piece: number for number, piece in enumerate(self.pieces.tolist())}
        mask = classifier.blank_ids()["mask"]
        self.masking = Masking(share, mask, self.pieces, context.recipe.seed, AS_MASK, AS_OTHER)
        counts = Counter(row.ids[piece] for row in rows for piece in content_of(row))
        frequencies = torch.tensor([float(counts[piece]) for piece in self.pieces.tolist()])
        self.log_frequencies = (frequencies / frequencies.sum()).log().to(classifier.device)
        self.pieces = self.pieces.to(classifier.device)

    @property
    def table(self) -> Tensor:
        """[id width]: the decoder, which is the network's own table of word vectors."""
        # The weight itself, without a call of the module: hooks that replace or record word embeddings see their own look-ups.
        return self.context.classifier.network.get_input_embeddings().weight

    def losses(self, part: StepPart) -> Tensor:
        """[example]: the mean cross-entropy of a text's hidden pieces, 0 or more."""
        rows, hidden = self.masked(part)
        if not any(hidden):
            return part.output.logits.new_zeros(len(rows))
        classifier = self.context.classifier
        with self.context.autocast():
            states = classifier.network.states(classifier.place(rows)["pieces"])
        examples = [number for number, pieces in enumerate(hidden) for _ in pieces]
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
        return torch.stack([each.sum() / max(1, len(each)) for each in of_text])

    def masked(self, part: StepPart) -> tuple[list[Row], list[list[int]]]:
        """The texts with some pieces hidden, and the numbers of these pieces."""
        pairs = [
            self.masking.masked(row, part.done) if len(content_of(row)) >= FEWEST else (row, [])
            for row in self.context.rows(part.indices)
        ]
        return [row for row, _ in pairs], [pieces for _, pieces in pairs]
