"""A new translator of LSTMs, before it is trained."""

from dataclasses import asdict, dataclass

from pellucid.core.foundation.checks import between, of_kind
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.local_random import OwnDraws
from pellucid.models.translation.lstm_network import LstmConfig, LstmTranslator
from pellucid.models.translation.untrained_network import END, MOST_PLACES, PAD


@dataclass(frozen=True)
class LstmSettings:
    """Sizes of a translator of LSTMs.

    layers: of the encoder, and as many of the decoder; 1 to 24. width: of every state and word vector, an even number from 8 to
    4,096; half of an encoder's state comes from each direction. dropout: 0 to 0.9. Raises `BadSetting` for other values.
    """

    layers: int = 2
    width: int = 256
    dropout: float = 0.1

    def __post_init__(self) -> None:
        between("layers", of_kind("layers", self.layers, int), 1, 24)
        between("width", of_kind("width", self.width, int), 8, 4096)
        between("dropout", self.dropout, 0, 0.9)
        if self.width % 2:
            raise BadSetting(
                f"width={self.width} is odd; each direction has half of it, so give an even number."
            )

    def record(self) -> dict[str, object]:
        """Every field by its name, and that it is no Transformer."""
        return {"kind": "lstm"} | asdict(self)


def untrained_lstm(settings: LstmSettings, n_pieces: int, seed: int) -> LstmTranslator:
    """An untrained network over so many pieces; its first weights are drawn from the seed."""
    config = LstmConfig(
        vocab_size=n_pieces,
        hidden_size=settings.width,
        num_layers=settings.layers,
        dropout=settings.dropout,
        max_position_embeddings=MOST_PLACES,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=PAD,
    )
    with OwnDraws(seed):
        return LstmTranslator(config)
