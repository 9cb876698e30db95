"""BiLSTM: word vectors read once from the left and once from the right, block by block.

Graves & Schmidhuber (2005), "Framewise Phoneme Classification with Bidirectional LSTM"; Sun et al. (2020),
"Self-Explaining Structures Improve NLP Models", section 3.1, name it as one of the encoders under a span layer. What states
retain of the word vectors is Tutek & Šnajder (2020), "Staying True to Your Word", section 3.1.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from pellucid.base.checks import at_least, between, one_of
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders
from pellucid.models.composed.lower_layers import BidirectionalLayer
from pellucid.models.composed.word_vectors import (
    WIDTH,
    BlocksOnVectors,
    Encoded,
    Vectors,
    WordVectors,
    check_own_width,
)

Retention = Literal["none", "concat", "residual"]


@encoders.add("bilstm", learning_rate=1e-3, sees="text", later={"vector_width", "retention", "min_texts"})
class BiLSTMEncoder(BlocksOnVectors):
    """A bidirectional LSTM on word vectors: a piece's state has read the text up to it from either side.

    A piece that is not attended is passed over, as if it were not there.

    The two halves of a state are its parts "forward", which has read the text up to the piece, and "backward", from it on.

    vectors: "minilm" begins with MiniLM's word vectors, "random" with small random ones; or the path of a text file of word
    vectors, as GloVe and fastText have them, whose words are then whole words in lower case. All are trained.
    width: numbers of a state of the LSTM, an even number; half of them from each direction.
    layers: blocks, each on the states of the one before.
    dropout: share of the numbers of word vectors and states that training hides, 0 to 0.9.
    vector_width: numbers of a random word vector; None for 384, as MiniLM's have, or for those of the file.
    retention: what the last states keep of the word vectors e: "none"; "concat", [rnn(e); e]; "residual", e + rnn(e), for
    which the word vectors have as many numbers as the states. The states of layers are the LSTM's own.
    min_texts: of a vector file, in how many train texts a word must occur, or else it is unknown.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        vectors: Vectors = "minilm",
        width: int = 384,
        layers: int = 1,
        dropout: float = 0.3,
        vector_width: int | None = None,
        retention: Retention = "none",
        min_texts: int = 2,
    ) -> None:
        at_least("width", width, 2)
        at_least("layers", layers, 1)
        at_least("min_texts", min_texts, 1)
        one_of("retention", retention, get_args(Retention))
        between("dropout", dropout, 0, 0.9)
        if width % 2:
            raise BadSetting(f"width={width} is odd; each direction has half of it, so give an even number.")
        check_own_width(vectors, vector_width)
        table = WordVectors(vocabulary, vectors, dropout, vector_width or WIDTH)
        if retention == "residual" and table.width != width:
            raise BadSetting(
                f"retention='residual' adds word vectors of {table.width} numbers to states of {width}; give "
                f"width={table.width}, or retention='concat'."
            )
        sizes = [table.width, *[width] * (layers - 1)]
        blocks = (BidirectionalLayer(size, width // 2, dropout) for size in sizes)
        super().__init__(table, blocks, width + table.width if retention == "concat" else width)
        self.retention = retention

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None
    ) -> Encoded:
        """[batch piece] -> states [batch piece width]; position_ids are not read."""
        vectors, attended = self.vectors(input_ids), attention_mask.bool()
        states = vectors
        for block in self.blocks:
            states = block(states, attended)
        if self.retention == "none":
            return Encoded(states)
        own = vectors * attended[..., None]
        return Encoded(torch.cat([states, own], -1) if self.retention == "concat" else states + own)
