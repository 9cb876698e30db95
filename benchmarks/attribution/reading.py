"""A classifier in the form that the peers take: a tokenizer, a network, and functions of ids or of embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForSequenceClassification, AutoTokenizer

FULL = 512  # tokens a call in the tuned uses: what fills a core here


class Missing(Exception):
    """Why a case cannot be run here."""


@dataclass(frozen=True)
class Read:
    """Texts as tensors, padded together."""

    ids: Tensor
    rest: tuple[Tensor, Tensor]  # attention mask, token types
    labels: Tensor  # the predicted classes, from a forward pass of its own


@dataclass(frozen=True)
class Reader:
    """The network and its tokenizer."""

    network: Any
    tokenizer: Any
    device: str

    def read(self, texts: Sequence[str]) -> Read:
        """Tokenise, and ask for the classes to explain."""
        columns = self.tokenizer(list(texts), padding=True, return_tensors="pt").to(self.device)
        rest = (columns["attention_mask"], columns["token_type_ids"])
        with torch.no_grad():
            labels = self.by_ids(columns["input_ids"], *rest).argmax(-1)
        return Read(columns["input_ids"], rest, labels)

    def by_ids(self, ids: Tensor, attended: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        """[text class] logits."""
        return self.network(input_ids=ids, attention_mask=attended, token_type_ids=types).logits

    def by_words(self, words: Tensor, attended: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        """[text class] logits of word embeddings."""
        return self.network(inputs_embeds=words, attention_mask=attended, token_type_ids=types).logits

    def words(self, ids: Tensor) -> Tensor:
        """Word embeddings, without a graph."""
        return self.network.get_input_embeddings()(ids).detach()

    def blank(self, ids: Tensor) -> Tensor:
        """The pad token everywhere but at [CLS] and [SEP]."""
        is_special = (ids == self.tokenizer.cls_token_id) | (ids == self.tokenizer.sep_token_id)
        return torch.where(is_special, ids, self.tokenizer.pad_token_id)

    def probabilities(self, texts: Sequence[str]) -> Tensor:
        """[text class], all texts in one batch."""
        columns = self.tokenizer(list(texts), padding=True, return_tensors="pt").to(self.device)
        with torch.no_grad():
            return self.network(**columns).logits.softmax(-1).cpu()

    def probabilities_in_parts(self, texts: Sequence[str]) -> Tensor:
        """[text class], in batches that fill a core."""
        longest = max(len(text.split()) for text in texts) + 2
        count = max(1, FULL // longest)
        return torch.cat([self.probabilities(texts[at : at + count]) for at in range(0, len(texts), count)])


def reader_of(folder: Path, device: str) -> Reader:
    """Load the model as its documentation says."""
    network = AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()
    return Reader(network, AutoTokenizer.from_pretrained(folder), device)
