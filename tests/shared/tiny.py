"""Tiny random models of each family, with real tokenizers trained on our own corpus: made in memory, no network."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)

from pellucid.base.kinds import encoders
from pellucid.data.built_in import first_edition
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import wrap
from pellucid.models.composed.composed import as_classifier
from pellucid.models.composed.networks import Plan, composed_network
from pellucid.models.composed.word_vectors import build_encoder
from pellucid.models.language_heads.masked_head import MaskedLMHead
from pellucid.run.target import Problem
from pellucid.text.example import as_examples
from pellucid.training.training_loss import set_threshold

FAMILIES = (
    "bert",
    "roberta",
    "distilbert",
    "electra",
    "xlm_roberta",
    "albert",
    "mpnet",
    "deberta_v2",
    "deberta_v3",
    "modernbert",
    "gpt2",
    "llama",
    "qwen2",
)
MASKED = tuple(family for family in FAMILIES if family not in ("gpt2", "llama", "qwen2"))  # with a masked-LM head
# What decoders read is tried on more of them; one of a kind is enough for every method.
DECODERS = ("gpt2", "llama", "qwen2", "mistral", "gemma", "gpt_neox")
LABELS = ("negative", "neutral", "positive")
TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BERT_SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA_SPECIALS = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
GPT_SPECIALS = {"unk": "<|endoftext|>", "bos": "<|endoftext|>", "eos": "<|endoftext|>"}
T5_SPECIALS = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}
LLAMA_SPECIALS = {"unk": "<unk>", "bos": "<s>", "eos": "</s>"}


def corpus() -> list[str]:
    """Texts to train tokenizers on; always the same ones, since every number that the tiny models give follows from
    them.
    """
    return [text for example in first_edition("all") for text in example.segments] + ["👩‍👩‍👧 שלום résumé naïve ॐ"]


def common_words(count: int) -> list[str]:
    """The most frequent lower-case words of the corpus; ties in alphabetical order."""
    counts = Counter(word for text in corpus() for word in re.findall(r"\w+", text.lower()))
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]


def characters() -> list[str]:
    """Every character of the corpus but blanks."""
    return sorted({character for text in corpus() for character in text + text.lower() if not character.isspace()})


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
def word_piece_in_brackets() -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer as MPNet has it: RoBERTa's special tokens around BERT's pieces."""
    specials = [*ROBERTA_SPECIALS.values(), "[UNK]"]
    tokenizer = Tokenizer.from_str(word_piece().backend_tokenizer.to_str())
    pieces = [piece for piece in sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get) if piece[0] != "["]
    tokenizer.model = models.WordPiece(
        {piece: number for number, piece in enumerate([*specials, "[", *pieces])}, unk_token="[UNK]"
    )
    tokenizer.post_processor = _between("<s>", "</s>", "</s> </s>", tokenizer)
    return _fast(tokenizer, ROBERTA_SPECIALS | {"unk": "[UNK]"}, ["input_ids", "attention_mask"])


def _between(first: str, last: str, middle: str, tokenizer: Tokenizer, types: bool = False) -> Any:
    """A text or a pair between its special tokens."""
    second = ":1" if types else ""
    return processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {middle} $B{second} {last}{second}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in (first, last)],
    )


@cache
def byte_pairs() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer as RoBERTa has it: leading blanks belong to pieces, emoji are several pieces."""
    tokenizer = _byte_level(list(ROBERTA_SPECIALS.values()), "<unk>")
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", tokenizer.token_to_id("</s>")),
        ("<s>", tokenizer.token_to_id("<s>")),
        trim_offsets=True,
        add_prefix_space=False,
    )
    return _fast(tokenizer, ROBERTA_SPECIALS, ["input_ids", "attention_mask"])


@cache
def byte_pairs_in_brackets() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer as ModernBERT has it: between [CLS] and [SEP], without token types."""
    tokenizer = _byte_level(list(BERT_SPECIALS.values()), "[UNK]")
    tokenizer.post_processor = _between("[CLS]", "[SEP]", "[SEP]", tokenizer)
    return _fast(tokenizer, BERT_SPECIALS, ["input_ids", "attention_mask"])


@cache
def byte_pairs_alone() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer as GPT-2 has it: no special tokens around a text, none for padding or masking."""
    tokenizer = _byte_level(["<|endoftext|>"], "<|endoftext|>")
    return _fast(tokenizer, GPT_SPECIALS, ["input_ids", "attention_mask"])


@cache
def byte_pairs_with_padding() -> PreTrainedTokenizerFast:
    """The same as Qwen2 has it: with a token for padding."""
    tokenizer = _byte_level(["<|endoftext|>", "<|im_end|>"], "<|endoftext|>")
    specials = {"unk": "<|endoftext|>", "eos": "<|im_end|>", "pad": "<|endoftext|>"}
    return _fast(tokenizer, specials, ["input_ids", "attention_mask"])


@cache
def sentence_piece_after_start() -> PreTrainedTokenizerFast:
    """A SentencePiece-like tokenizer as Llama has it: one special token before a text and none after it."""
    tokenizer = _unigram([*LLAMA_SPECIALS.values()], "<unk>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    return _fast(tokenizer, LLAMA_SPECIALS, ["input_ids", "attention_mask"])


@cache
def sentence_piece_before_end() -> PreTrainedTokenizerFast:
    """A SentencePiece-like tokenizer as T5 has it: one special token after each text and none before it."""
    tokenizer = _unigram([*T5_SPECIALS.values()], "<unk>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))]
    )
    return _fast(tokenizer, T5_SPECIALS, ["input_ids", "attention_mask"])


@cache
def sentence_piece_on_the_left() -> PreTrainedTokenizerFast:
    """A SentencePiece-like tokenizer as XLNet has it: [SEP] and [CLS] after a text, padding before it."""
    tokenizer = _unigram(list(BERT_SPECIALS.values()), "[UNK]")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 [SEP]:0 [CLS]:2",
        pair="$A:0 [SEP]:0 $B:1 [SEP]:1 [CLS]:2",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    fast = _fast(tokenizer, BERT_SPECIALS, ["input_ids", "token_type_ids", "attention_mask"])
    fast.padding_side = "left"
    return fast


def _byte_level(specials: list[str], unknown: str) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=specials,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@cache
def sentence_piece() -> PreTrainedTokenizerFast:
    """A SentencePiece-like Unigram tokenizer as XLM-R has it: blanks become ▁, pieces can begin with them."""
    tokenizer = _unigram(list(ROBERTA_SPECIALS.values()), "<unk>")
    tokenizer.post_processor = _between("<s>", "</s>", "</s> </s>", tokenizer)
    return _fast(tokenizer, ROBERTA_SPECIALS, ["input_ids", "attention_mask"])


@cache
def sentence_piece_in_brackets() -> PreTrainedTokenizerFast:
    """A SentencePiece-like Unigram tokenizer as ALBERT and DeBERTa have it: [CLS], [SEP] and token types."""
    tokenizer = _unigram(list(BERT_SPECIALS.values()), "[UNK]")
    tokenizer.post_processor = _between("[CLS]", "[SEP]", "[SEP]", tokenizer, types=True)
    return _fast(tokenizer, BERT_SPECIALS, ["input_ids", "token_type_ids", "attention_mask"])


def _unigram(specials: list[str], unknown: str) -> Tokenizer:
    pieces = [*specials, "▁", *characters(), *("▁" + word for word in common_words(300))]
    scored = [(piece, -0.01 * number) for number, piece in enumerate(dict.fromkeys(pieces))]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=specials.index(unknown)))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def _fast(tokenizer: Tokenizer, specials: dict[str, str], inputs: list[str]) -> PreTrainedTokenizerFast:
    names = {f"{name}_token": token for name, token in specials.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, model_input_names=inputs, **names)


TOKENIZERS = {
    "bert": word_piece,
    "electra": word_piece,
    "distilbert": word_piece,
    "roberta": byte_pairs,
    "xlm_roberta": sentence_piece,
    "albert": sentence_piece_in_brackets,
    "mpnet": word_piece_in_brackets,
    "deberta_v2": sentence_piece_in_brackets,
    "deberta_v3": sentence_piece_in_brackets,
    "modernbert": byte_pairs_in_brackets,
    "gpt2": byte_pairs_alone,
    "llama": sentence_piece_after_start,
    "qwen2": byte_pairs_with_padding,
    "mistral": sentence_piece_after_start,
    "gemma": sentence_piece_after_start,
    "gpt_neox": byte_pairs_alone,
}
_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
}
_AFTER_PADDING = _SIZES | {"max_position_embeddings": 130}  # positions are counted from the padding id + 1
COUNTED_FROM_PADDING = ("roberta", "xlm_roberta", "mpnet")
_DEBERTA = _SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "pooler_hidden_size": 32}
_GROUPED = _SIZES | {"num_key_value_heads": 2}
_CONFIGS = {  # family: the name of its configuration, and small sizes
    "bert": ("bert", _SIZES),
    "electra": ("electra", _SIZES | {"embedding_size": 16}),
    "roberta": ("roberta", _AFTER_PADDING | {"type_vocab_size": 1}),
    "xlm_roberta": ("xlm-roberta", _AFTER_PADDING | {"type_vocab_size": 1}),
    "distilbert": (
        "distilbert",
        {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 128},
    ),
    "albert": ("albert", _SIZES | {"embedding_size": 16}),  # one block, run three times
    "mpnet": ("mpnet", _AFTER_PADDING),
    "deberta_v2": ("deberta-v2", _DEBERTA | {"type_vocab_size": 2}),
    "deberta_v3": (
        "deberta-v2",
        _DEBERTA
        | {
            "position_biased_input": False,
            "position_buckets": 16,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "type_vocab_size": 0,
        },
    ),
    "modernbert": (
        "modernbert",
        _SIZES | {"local_attention": 16, "global_attn_every_n_layers": 3, "classifier_pooling": "mean"},
    ),
    "gpt2": ("gpt2", {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_inner": 48, "n_positions": 128}),
    "llama": ("llama", _GROUPED),
    "qwen2": ("qwen2", _GROUPED),
    "mistral": ("mistral", _GROUPED | {"sliding_window": 16}),
    "gemma": ("gemma", _GROUPED | {"head_dim": 8}),
    "gpt_neox": ("gpt_neox", _SIZES),
}


def tiny_network(family: str = "bert", n_labels: int = 3, **config: Any) -> torch.nn.Module:
    """A random Hugging Face classifier whose weights are large enough that inputs matter."""
    kind, sizes = _CONFIGS[family]
    tokenizer = TOKENIZERS[family]()
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id,
        eos_token_id=tokenizer.sep_token_id if tokenizer.eos_token_id is None else tokenizer.eos_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        num_labels=n_labels,
        **{**sizes, **config},
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        network = AutoModelForSequenceClassification.from_config(config).eval()
        with torch.no_grad():
            if family in DECODERS and tokenizer.pad_token_id is not None:
                # A new one's padding is the zero vector, where the norm that reads it jumps; a trained one's is not.
                network.get_input_embeddings().weight[tokenizer.pad_token_id].normal_(std=0.02)
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(4.0)  # default initialisation is so small that every text gives the same logits
    return network


def tiny_classifier(family: str = "bert", labels: tuple[str, ...] = LABELS, **config: Any) -> Classifier:
    """A tiny Hugging Face classifier of a family, wrapped as `pellucid.load` would."""
    names = {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }
    network = tiny_network(family, len(labels), **names, **config)
    return wrap(network, TOKENIZERS[family](), name=f"tiny {family}")


def tiny_masked_lm(family: str = "bert") -> torch.nn.Module:
    """A random masked-LM network of a family, as large as the tiny classifier."""
    with torch.random.fork_rng():
        torch.manual_seed(17)
        network = AutoModelForMaskedLM.from_config(tiny_network(family).config).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(3.0)
    return network


def with_tiny_head(classifier: Classifier, family: str = "bert") -> Classifier:
    """The classifier with the language head of a random masked-LM network."""
    head = MaskedLMHead(tiny_masked_lm(family), TOKENIZERS[family](), f"tiny {family}")
    return replace(classifier, language_head=head)


def tiny_composed(
    pooler: str = "span",
    labels: tuple[str, ...] = LABELS,
    problem: Problem = "single_label",
    max_length: int | None = None,
    positions: int = 128,
    family: str = "bert",
    layer_form: str = "",
    **settings: Any,
) -> Classifier:
    """A tiny composed model on a random encoder; with a max_length above its positions it joins windows."""
    plan = Plan("tiny", pooler, settings, labels, problem, max_length=max_length, layer_form=layer_form)
    with torch.random.fork_rng():
        torch.manual_seed(11)
        encoder = AutoModel.from_config(
            tiny_network(family, max_position_embeddings=positions + 2 * (family in COUNTED_FROM_PADDING)).config
        )
        encoder.pooler = None
        network = composed_network(encoder, plan).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(3.0)
    classifier = as_classifier(network, TOKENIZERS[family](), plan, f"tiny {pooler}")
    if pooler == "rationale":
        choose_half(classifier)
    return classifier


def choose_half(classifier: Classifier) -> None:
    """Make a chooser read half of some words: a random one opens its gates for all or for none."""
    pooler = classifier.network.pooler
    coverage, pooler.coverage = pooler.coverage, 0.5
    with torch.no_grad():
        pooler.gate.weight.mul_(20)
    set_threshold(classifier, classifier.encode(as_examples(corpus()[:40])).rows)
    pooler.coverage = coverage


def tiny_on_vectors(encoder: str = "bilstm", pooler: str = "span", **settings: Any) -> Classifier:
    """A composed model on a random encoder of ours, small but for its word vectors."""
    sizes: dict[str, Any] = {
        "bilstm": {"width": 16},
        "cnn": {"filters": 4, "widths": [2, 3]},
        "transformer": {"width": 16, "heads": 2, "feed_forward": 24, "layers": 2},
    }
    tokenizer = word_piece()
    plan = Plan(encoder, pooler, {}, LABELS)
    encoder_settings = encoders.get(encoder).settings({**sizes[encoder], **settings})
    with torch.random.fork_rng():
        torch.manual_seed(13)
        network = composed_network(
            build_encoder(encoder, encoder_settings, len(tokenizer), tokenizer.pad_token_id), plan
        ).eval()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(3.0)
    return as_classifier(network, tokenizer, plan, f"tiny {encoder}")


def network_for_pieces(kind: str, family: str, double: bool = False) -> Any:
    """A random network of a family with a head for pieces: "TokenClassification", "QuestionAnswering", "MaskedLM"."""
    names = {"id2label": dict(enumerate(TAGS)), "label2id": {tag: number for number, tag in enumerate(TAGS)}}
    tags = (len(TAGS), names) if kind == "TokenClassification" else (2, {})
    config = tiny_network(family, tags[0], **tags[1]).config
    with torch.random.fork_rng():
        torch.manual_seed(23)
        network = getattr(transformers, f"AutoModelFor{kind}").from_config(config).eval()
        with torch.no_grad():
            for name, weights in network.named_parameters():
                if "norm" not in name.lower():
                    weights.mul_(4.0)
    return network.double() if double else network


def save_tiny(folder: Path, family: str = "bert", labels: tuple[str, ...] | None = None, **config: Any) -> Path:
    """A tiny classifier written to disk as its trainer would have left it."""
    if labels is not None:
        config |= {"n_labels": len(labels), "id2label": dict(enumerate(labels))}
        config["label2id"] = {label: number for number, label in enumerate(labels)}
    tiny_network(family, **config).save_pretrained(folder)
    TOKENIZERS[family]().save_pretrained(folder)
    return folder
