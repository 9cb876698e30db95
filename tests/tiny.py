"""Tiny random models of each family, with real tokenizers trained on our own corpus: made in memory, no network."""

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoModel,
    BertConfig,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    ElectraConfig,
    ElectraForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from pellucid.datasets.load import load_examples
from pellucid.models.classifier import Classifier
from pellucid.models.composed import ComposedNetwork, Plan, as_classifier
from pellucid.models.hugging_face import wrap

FAMILIES = ("bert", "roberta", "distilbert", "electra", "xlm_roberta")
BERT_SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA_SPECIALS = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}


def corpus() -> list[str]:
    """Texts to train tokenizers on."""
    return [text for example in load_examples("pocket", "all") for text in example.segments] + [
        "👩‍👩‍👧 שלום résumé naïve ॐ"
    ]


def common_words(count: int) -> list[str]:
    """The most frequent lower-case words of the corpus; ties in alphabetical order."""
    counts = Counter(word for text in corpus() for word in re.findall(r"\w+", text.lower()))
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]


def characters() -> list[str]:
    """Every character of the corpus but blanks."""
    return sorted(
        {character for text in corpus() for character in text + text.lower() if not character.isspace()}
    )


@cache
def word_piece() -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer as BERT has it: lower case, accents stripped, pairs with token types.

    Vocabularies are written down, not trained: the library's trainers differ from process to process.
    """
    pieces = [
        *BERT_SPECIALS.values(),
        *characters(),
        *("##" + character for character in characters()),
        *common_words(300),
    ]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.decoder = decoders.WordPiece()
    return _fast(tokenizer, BERT_SPECIALS, ["input_ids", "token_type_ids", "attention_mask"])


@cache
def byte_pairs() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer as RoBERTa has it: leading blanks belong to pieces, emoji are several pieces."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(ROBERTA_SPECIALS.values()),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", tokenizer.token_to_id("</s>")),
        ("<s>", tokenizer.token_to_id("<s>")),
        trim_offsets=True,
        add_prefix_space=False,
    )
    tokenizer.decoder = decoders.ByteLevel()
    return _fast(tokenizer, ROBERTA_SPECIALS, ["input_ids", "attention_mask"])


@cache
def sentence_piece() -> PreTrainedTokenizerFast:
    """A SentencePiece-like Unigram tokenizer as XLM-R has it: blanks become ▁, pieces can begin with them."""
    pieces = [*ROBERTA_SPECIALS.values(), "▁", *characters(), *("▁" + word for word in common_words(300))]
    scored = [(piece, -0.01 * number) for number, piece in enumerate(dict.fromkeys(pieces))]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=list(ROBERTA_SPECIALS).index("unk")))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")],
    )
    tokenizer.decoder = decoders.Metaspace()
    return _fast(tokenizer, ROBERTA_SPECIALS, ["input_ids", "attention_mask"])


def _fast(tokenizer: Tokenizer, specials: dict[str, str], inputs: list[str]) -> PreTrainedTokenizerFast:
    names = {f"{name}_token": token for name, token in specials.items()}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=128, model_input_names=inputs, **names
    )


TOKENIZERS = {
    "bert": word_piece,
    "electra": word_piece,
    "distilbert": word_piece,
    "roberta": byte_pairs,
    "xlm_roberta": sentence_piece,
}
_SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
_NETWORKS = {
    "bert": (BertConfig, BertForSequenceClassification, _SIZES | {"max_position_embeddings": 128}),
    "electra": (
        ElectraConfig,
        ElectraForSequenceClassification,
        _SIZES | {"embedding_size": 16, "max_position_embeddings": 128},
    ),
    "roberta": (
        RobertaConfig,
        RobertaForSequenceClassification,
        _SIZES | {"max_position_embeddings": 130, "type_vocab_size": 1},
    ),
    "xlm_roberta": (
        XLMRobertaConfig,
        XLMRobertaForSequenceClassification,
        _SIZES | {"max_position_embeddings": 130, "type_vocab_size": 1},
    ),
    "distilbert": (
        DistilBertConfig,
        DistilBertForSequenceClassification,
        {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 128},
    ),
}


def tiny_network(family: str = "bert", n_labels: int = 3, **config: Any) -> torch.nn.Module:
    """A random Hugging Face classifier whose weights are large enough that inputs matter."""
    config_class, network_class, sizes = _NETWORKS[family]
    tokenizer = TOKENIZERS[family]()
    made = config_class(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        num_labels=n_labels,
        **{**sizes, **config},
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        network = network_class(made).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(
                        4.0
                    )  # default initialisation is so small that every text gives the same logits
    return network


def tiny_classifier(
    family: str = "bert", labels: tuple[str, ...] = ("negative", "neutral", "positive"), **config: Any
) -> Classifier:
    """A tiny Hugging Face classifier of a family, wrapped as `pellucid.load` would."""
    names = {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }
    network = tiny_network(family, len(labels), **names, **config)
    return wrap(network, TOKENIZERS[family](), name=f"tiny {family}")


def tiny_composed(
    pooler: str = "span", labels: tuple[str, ...] = ("negative", "neutral", "positive"), **settings: Any
) -> Classifier:
    """A tiny composed model on a random BERT encoder."""
    plan = Plan("tiny", pooler, settings, labels)
    with torch.random.fork_rng():
        torch.manual_seed(11)
        encoder = AutoModel.from_config(tiny_network("bert").config)
        encoder.pooler = None
        network = ComposedNetwork(encoder, plan).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(3.0)
    return as_classifier(network, word_piece(), plan, f"tiny {pooler}")


def save_tiny(folder: Path, family: str = "bert", **config: Any) -> Path:
    """A tiny classifier written to disk as its trainer would have left it."""
    tiny_network(family, **config).save_pretrained(folder)
    TOKENIZERS[family]().save_pretrained(folder)
    return folder
