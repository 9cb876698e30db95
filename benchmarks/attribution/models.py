"""The models of the benchmark, written to folders once so that every case loads them as a user would.

"minilm" is all-MiniLM-L6-v2 with two classes. Its head is fitted to the package's own sentences in seconds: time does
not depend on it, but errors and agreements mean nothing where every answer is the same. "base" has BERT-base's size and
random weights.
"""

from pathlib import Path
from typing import Any

import torch
from sklearn.linear_model import LogisticRegression
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

import pellucid
from pellucid.models.classifiers.hugging_face import load_tokenizer, minilm_source

LABELS = ("negative", "positive")


def folder_of(name: str, work: Path) -> Path:
    """Where the model lies; it is made first if it is not there."""
    folder = work / name
    if not (folder / "tokenizer.json").exists():
        tokenizer = load_tokenizer(minilm_source())
        torch.manual_seed(0)
        network = _minilm(tokenizer) if name == "minilm" else _base()
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


def _names() -> dict[str, Any]:
    return {
        "num_labels": len(LABELS),
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: number for number, label in enumerate(LABELS)},
    }


def _base() -> Any:
    return BertForSequenceClassification(BertConfig(**_names())).eval()


def _minilm(tokenizer: Any) -> Any:
    """A logistic regression on what the pooler says of the corpus's positive and negative sentences."""
    network = AutoModelForSequenceClassification.from_pretrained(minilm_source(), **_names()).eval()
    known = [example for example in pellucid.examples("pocket", "all") if example.label in LABELS]
    pooled = torch.cat([_pooled(network, tokenizer, known[at : at + 16]) for at in range(0, len(known), 16)])
    fit = LogisticRegression(max_iter=1000).fit(pooled.numpy(), [example.label for example in known])
    weight, bias = torch.from_numpy(fit.coef_[0]).float(), float(fit.intercept_[0])
    with torch.no_grad():
        network.classifier.weight.copy_(torch.stack([-weight, weight]) / 2)
        network.classifier.bias.copy_(torch.tensor([-bias, bias]) / 2)
    return network


def _pooled(network: Any, tokenizer: Any, examples: list) -> torch.Tensor:
    texts = [example.segments[0] for example in examples]
    with torch.no_grad():
        return network.bert(**tokenizer(texts, padding=True, return_tensors="pt")).pooler_output
