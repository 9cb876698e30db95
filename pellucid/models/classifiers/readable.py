"""What a model can read of a text's pieces: by its tokenizer, or by the vocabulary of a scikit-learn pipeline.

A tokenizer writes its unknown token where it has no piece for some characters. One with bytes in its vocabulary spells
such characters by their bytes in UTF-8 instead, which the model reads, though it may know little of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pellucid.text.units import SPECIAL, Reading, is_blank

MARKS = ("▁", "Ġ", "##")  # tokens that say where a word begins or goes on, and nothing else
A_BYTE = "<0xE2>"  # the token of a byte, in a vocabulary that has one for each
_PRINTED = (*range(33, 127), *range(161, 173), *range(174, 256))
_OTHERS = (byte for byte in range(256) if byte not in _PRINTED)
# How byte-level vocabularies write bytes: printable ones as they are in Latin 1, the others from U+0100 on (GPT-2).
BYTES = {chr(byte): byte for byte in _PRINTED} | {chr(256 + n): byte for n, byte in enumerate(_OTHERS)}


def piece_readings(
    tokenizer: Any,  # of Hugging Face; the protocol of fast ones stands in a file that reads this one
    ids: Sequence[int],
    labels: Sequence[str],
    segments: Sequence[int],
) -> tuple[Reading, ...]:
    """[piece], what the model can read of each; empty where it reads all of them whole.

    labels: the characters of the text that each piece stands for. Special tokens and blanks count as read, and so does
    an unknown token that the text itself spells.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)  # Marian's tokenizer has none, and no bytes
    unknown = unknown_token(tokenizer, backend)
    has_unknown = unknown is not None and tokenizer.convert_tokens_to_ids(unknown) in ids
    has_bytes = backend is not None and backend.token_to_id(A_BYTE) is not None
    if not has_unknown and not has_bytes and all(map(str.isascii, labels)):
        return ()
    tokens = tokenizer.convert_ids_to_tokens(list(ids))
    is_bytes = _is_broken if _is_byte_level(backend) else _is_one_byte
    readings: list[Reading] = []
    for token, label, segment in zip(tokens, labels, segments, strict=True):
        says_nothing = segment == SPECIAL or is_blank(label)
        is_unknown = token == unknown and label != unknown
        readings.append("whole" if says_nothing else "none" if is_unknown else "bytes" if is_bytes(token) else "whole")
    for piece in reversed(range(len(tokens) - 1)):  # a mark before a word is read as far as the word is
        if tokens[piece] in MARKS and segments[piece] == segments[piece + 1] != SPECIAL:
            readings[piece] = readings[piece + 1]
    return tuple(readings) if {"none", "bytes"} & set(readings) else ()


def unknown_token(tokenizer: Any, backend: Any) -> str | None:  # of Hugging Face, and the library's inside it
    """The token that stands for what a tokenizer does not know; None where it has none."""
    declared: str | None = tokenizer.unk_token
    return declared or getattr(getattr(backend, "model", None), "unk_token", None)


def _is_byte_level(backend: Any) -> bool:  # a tokenizer of the library tokenizers, or None
    """Whether each piece is a string of bytes, as in GPT-2's family."""
    if backend is None:
        return False
    return "ByteLevel" in repr(backend.decoder) or "ByteLevel" in repr(backend.pre_tokenizer)


def _is_broken(token: str) -> bool:
    """Whether a byte-level token begins or ends inside a character."""
    if not all(character in BYTES for character in token):
        return False
    try:
        bytes(BYTES[character] for character in token).decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _is_one_byte(token: str) -> bool:
    """Whether a token stands for one byte: <0x0A>."""
    return len(token) == len(A_BYTE) and token.startswith("<0x") and token.endswith(">")


# What a scikit-learn pipeline can read: the words that its vectorizer has in its vocabulary.

Reader = Callable[[Sequence[str]], tuple[Reading, ...]]  # the words of a text, in order -> what is read of each


def vocabulary_reader(pipeline: object) -> Reader | None:
    """What reads words as a fitted pipeline's first step does; None where any word is read, or nothing is known.

    Known are vectorizers with a vocabulary (CountVectorizer, TfidfVectorizer), alone or joined by a FeatureUnion, and
    pipelines inside a search. Hashing vectorizers have no vocabulary: they read every word.
    """
    vectorizers = list(_vectorizers(pipeline))
    if not vectorizers or not all(hasattr(vectorizer, "vocabulary_") for vectorizer in vectorizers):
        return None

    def read(words: Sequence[str]) -> tuple[Reading, ...]:
        try:
            by_word = list(zip(*(_known_words(vectorizer, words) for vectorizer in vectorizers), strict=True))
        except Exception:  # a user's own analyser may fail on a word alone; explaining itself does not ask it for that
            return ()
        is_known = [True if any(of_word) else False if False in of_word else None for of_word in by_word]
        # What is left aside counts as read; of a text without any known word nothing is read.
        aside: Reading = "whole" if any(is_known) else "none"
        return tuple(aside if known is None else "whole" if known else "none" for known in is_known)

    return read


def reads_texts(step: Any) -> bool:
    """Whether a step of scikit-learn has a vectorizer, which reads texts themselves."""
    return next(_vectorizers(step), None) is not None


def _vectorizers(step: Any) -> Iterator[Any]:  # any object of scikit-learn
    """The steps that read the texts themselves."""
    if hasattr(step, "best_estimator_"):
        yield from _vectorizers(step.best_estimator_)
    elif hasattr(step, "transformer_list"):
        for _, part in step.transformer_list:
            yield from _vectorizers(part)
    elif hasattr(step, "transformers_"):  # of the columns of a frame
        for _, part, _ in step.transformers_:
            yield from _vectorizers(part)
    elif hasattr(step, "steps"):
        yield from _vectorizers(step.steps[0][1])
    elif hasattr(step, "build_analyzer"):
        yield step


def _known_words(vectorizer: Any, words: Sequence[str]) -> list[bool | None]:  # with a vocabulary
    """Whether the vectorizer knows each word of a text; None for what it makes no feature of, such as punctuation and
    stop words.

    Of several words it may know what it does not know of one, so features of several words count for each of them.
    Characters are looked up word by word.
    """
    vocabulary = vectorizer.vocabulary_
    if vectorizer.analyzer != "word":
        analyse = vectorizer.build_analyzer()
        return [_any_known(analyse(word), vocabulary) for word in words]
    stop_words = vectorizer.get_stop_words() or ()
    prepare, split = vectorizer.build_preprocessor(), vectorizer.build_tokenizer()
    tokens = [[token for token in split(prepare(word)) if token not in stop_words] for word in words]
    every = [(token, owner) for owner, of_word in enumerate(tokens) for token in of_word]
    known: list[bool | None] = [False if of_word else None for of_word in tokens]
    least, most = vectorizer.ngram_range
    for size in range(least, most + 1):
        for first in range(len(every) - size + 1):
            part = every[first : first + size]
            if " ".join(token for token, _ in part) in vocabulary:
                for _, owner in part:
                    known[owner] = True
    return known


def _any_known(features: Sequence[object], vocabulary: Any) -> bool | None:
    return any(feature in vocabulary for feature in features) if features else None
