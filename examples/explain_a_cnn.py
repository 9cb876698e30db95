"""A network of your own, explained through three small functions: a CNN, trained here in seconds.

The texts are planted: one of two made-up words decides, so the right explanation is known.
"""

import re
import zlib

import torch
from torch import nn

import pellucid

LABELS = ("no", "yes")


class CNN(nn.Module):
    """Embeddings, filters over three words, the largest output of each, a linear layer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4096, 32, padding_idx=0)
        self.filters = nn.Conv1d(32, 64, 3, padding=1)
        self.head = nn.Linear(64, len(LABELS))

    def forward(self, ids, attended):  # [batch word] -> [batch class]
        vectors = self.embedding(ids) * attended[..., None]
        outputs = self.filters(vectors.transpose(1, 2)).relu() * attended[:, None]
        return self.head(outputs.amax(2))


def words(text):
    """One (id, start, end) a word; the id is computed from the word's letters; 0 is for padding."""
    offsets = [match.span() for match in re.finditer(r"\S+", text)]
    return [(1 + zlib.crc32(text[start:end].encode()) % 4095, start, end) for start, end in offsets]


def train(network, examples):
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    for first in [*range(0, len(examples), 50)] * 4:
        part = examples[first : first + 50]
        ids = [torch.tensor([number for number, _, _ in words(example.text)]) for example in part]
        ids = nn.utils.rnn.pad_sequence(ids, batch_first=True)
        gold = torch.tensor([LABELS.index(example.label) for example in part])
        loss = nn.functional.cross_entropy(network(ids, ids > 0), gold)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


torch.manual_seed(0)
network = train(CNN(), pellucid.examples("planted_token", split="train"))
model = pellucid.from_network(network, tokenize=words, logits=network, embedding=network.embedding, labels=LABELS)
test = pellucid.examples("planted_token", split="test")[:40]
print("accuracy on test:", pellucid.accuracy(model, test))
print(pellucid.explain(model, test[0], "integrated_gradients")[0])
print(pellucid.compare(model, test, ["gradient", "occlusion"], ["auprc"]))
