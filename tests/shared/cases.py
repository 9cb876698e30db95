"""Cases on a tiny model, with scores that the tests choose."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from pellucid.base.processes import silent
from pellucid.comparison.case import Case
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import as_classifier
from pellucid.models.composed.networks import Plan, composed_network
from pellucid.results.explanation import Explanation
from pellucid.run.batch import Row
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target, class_probabilities
from pellucid.text.example import Example, Rationale

_EXPLAINED: dict[str, list[Explanation]] = {}  # by examples, method and target
LABELS = ("negative", "neutral", "positive")
TEXTS = (
    "The soup was warm, the waiter was kind and the bill was small.",
    "fine",
    ("The café was closed on Monday.", "Nobody could eat there, it seems."),
    "Slow, loud and far too hot: never again!",
    "A map that shows the way home, even at night.",
    "It works.",
)


SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


@cache
def tokenizer() -> PreTrainedTokenizerFast:
    """WordPiece with a vocabulary written by hand: short words are one piece, long ones letters."""
    words = sorted({word for text in TEXTS for word in re.findall(r"\w+|[^\w\s]", _joined(text).lower())})
    letters = sorted({letter for word in words for letter in word})
    entries = [*SPECIALS.values(), *letters, *(f"##{letter}" for letter in letters)]
    entries += [word for word in words if 1 < len(word) < 6]
    inner = Tokenizer(WordPiece({entry: number for number, entry in enumerate(entries)}, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer = (
        BertNormalizer(lowercase=True, strip_accents=False),
        BertPreTokenizer(),
    )
    inner.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {f"{name}_token": token for name, token in SPECIALS.items()}
    return PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=128, **names)


@cache
def model() -> Classifier:
    """A mean-pooling model: what it predicts changes as words disappear."""
    config = BertConfig(
        vocab_size=len(tokenizer()),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=128,
    )
    plan = Plan("tiny", "mean", {}, LABELS)
    with torch.random.fork_rng():
        torch.manual_seed(6)
        network = composed_network(BertModel(config, add_pooling_layer=False), plan).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(8.0)  # else every text gives the same logits
    return as_classifier(network, tokenizer(), plan, "tiny mean")


def _joined(text: str | tuple[str, str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


def examples(texts: Sequence = TEXTS) -> list[Example]:
    """Labelled examples; the labels are used in turn."""
    segments = [(text,) if isinstance(text, str) else text for text in texts]
    return [Example(text, LABELS[number % 3], id=str(number)) for number, text in enumerate(segments)]


def explained(texts: Sequence[Example], method: str = "gradient", target: str = "predicted") -> list[Explanation]:
    """One method's explanations; the same examples are explained once for all tests."""
    key = repr((list(texts), method, target))
    if key not in _EXPLAINED:
        request = Request(model(), method_calls([method], model()), Target(target), 0)
        _EXPLAINED[key] = explain_batch(request, model().encode(texts), Scheduler(512), silent)[method]
    return _EXPLAINED[key]


def random_scores(words: Explanation, seed: int) -> np.ndarray:
    """[unit]: distinct scores of both signs, special tokens 0."""
    values = np.random.default_rng([seed, len(words.units)]).normal(size=len(words.units))
    return np.where(words.special, 0.0, values)


def case_with(texts: Sequence[Example], scores: Sequence[np.ndarray] | int = 0, target: str = "predicted") -> Case:
    """A case whose explanations have these scores [word] of the text's words, or random ones of this seed."""
    words = [explanation.words() for explanation in explained(texts, target=target)]
    if isinstance(scores, int):
        values = [random_scores(view, scores) for view in words]
    else:
        values = [np.zeros(len(view.units)) for view in words]
        for row, view, of_words in zip(values, words, scores, strict=True):
            row[~view.special] = of_words
    explanations = [replace(view, scores=row) for view, row in zip(words, values, strict=True)]
    return Case(model(), model().encode(texts), explanations, Scheduler(512))


def mark(example: Example, words: Sequence[int]) -> Example:
    """The example with these of its words marked, each by a mark of its own."""
    units = explained([example])[0].words().units
    marked = [units.content[word] for word in words]
    marks = [Rationale(units.segment[unit], units.start[unit], units.end[unit]) for unit in marked]
    return replace(example, rationales=tuple(marks))


def with_decoy(example: Example, word: int) -> Example:
    """The example with its word of this number as a planted decoy."""
    (decoy,) = mark(example, [word]).rationales
    return replace(example, meta={"distractors": [[decoy.segment, decoy.start, decoy.end]]})


def answer(case: Case, example: int, removed: frozenset[int], operator: str = "absent") -> np.ndarray:
    """[class] probabilities of one edited text, run alone."""
    pieces = case.batch.pieces_of(example, "word")
    return _alone(case.batch.edited(example, [piece for word in removed for piece in pieces[word]], operator))


@cache
def _alone(row: Row) -> np.ndarray:
    return class_probabilities(model().trace([row]).logits.detach().double(), "single_label")[0].numpy()
