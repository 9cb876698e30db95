"""A tokenizer of whole words for word vectors from a file, by the rules of attention's critics.

Jain & Wallace (2019), "Attention is not Explanation", as their released code prepares texts: lower case, a word with a digit
becomes "qqq", words of few train texts are unknown, and each text stands between <SOS> and <EOS>, which attention leaves out.
They split with spaCy; here a pattern splits, which parts "n't" and "'s" from their words as spaCy and GloVe do. Offsets
belong to the text as written.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tokenizers import Regex, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend
from transformers import PreTrainedTokenizerFast

from pellucid.models.classifiers.tokenizer import Tokenizer

PAD, UNKNOWN, START, END, MASK = SPECIALS = ("<PAD>", "<UNK>", "<SOS>", "<EOS>", "<MASK>")
DIGITS = "qqq"  # what stands for every word with a digit
RARE = 2  # a word of fewer train texts is unknown
_FIRST = "\ufdd0"  # no character of any text: the first one of a word with a digit, while the rest is still to be replaced
# A replaced character keeps its own offset, and what replaces several has the last one's. So a word with a digit is replaced in
# two parts, its first character and the rest, and "qqq" has the offsets of the whole word.
_NEW = r"(?<!\w)(?<!\d[.,])"  # where a word begins; "1,000.5" is one
_WITH_DIGIT = (
    (rf"{_NEW}\d(?!\w|[.,]\d)", DIGITS),
    (rf"{_NEW}(?:\w(?=\w*\d)|\d(?=\w|[.,]\d))", _FIRST),
    (rf"(?<={_FIRST})(?:\w|[.,](?=\d))+", DIGITS[1:]),
    (_FIRST, DIGITS[0]),
)
_WORD = r"\w+?(?=n't(?!\w))|n't(?!\w)|'(?:s|re|ve|ll|d|m)(?!\w)|\w+|[^\w\s]"


def word_tokenizer(texts: Sequence[Sequence[str]], least: int) -> Tokenizer:
    """A tokenizer that knows the words of these texts, or pairs, that at least so many of them have."""
    backend = _splitter()
    counts: Counter[str] = Counter()
    for segments in texts:
        counts.update({word for segment in segments for word in _words(backend, segment)})
    common = sorted(
        (word for word, count in counts.items() if count >= least), key=lambda word: (-counts[word], word)
    )
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys((*SPECIALS, *common)))}
    backend.model = models.WordLevel(vocabulary, unk_token=UNKNOWN)
    ends = [(name, vocabulary[name]) for name in (START, END)]
    backend.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}", pair=f"{START} $A {END} $B {END}", special_tokens=ends
    )
    tokenizer: Any = PreTrainedTokenizerFast(  # Any: the library declares more kinds of answers
        tokenizer_object=backend,
        model_input_names=["input_ids", "attention_mask"],
        pad_token=PAD,
        unk_token=UNKNOWN,
        cls_token=START,
        sep_token=END,
        mask_token=MASK,
    )
    return tokenizer


def _splitter() -> Backend:
    """A tokenizer of no words yet, which normalises and splits."""
    backend = Backend(models.WordLevel({UNKNOWN: 0}, unk_token=UNKNOWN))
    digits = [normalizers.Replace(Regex(pattern), instead) for pattern, instead in _WITH_DIGIT]
    backend.normalizer = normalizers.Sequence(
        [normalizers.Lowercase(), normalizers.Replace("’", "'"), *digits]
    )
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)
    return backend


def _words(backend: Backend, text: str) -> list[str]:
    """The words of a text as the tokenizer looks them up."""
    normal = backend.normalizer.normalize_str(text)
    return [word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)]
