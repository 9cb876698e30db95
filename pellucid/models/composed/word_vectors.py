"""What encoders on word vectors share: the vectors, how a new encoder is built, and how a saved one is built again."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from tokenizers import Regex, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from pellucid.base.checks import at_least, quoted
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import encoders
from pellucid.models.classifiers.hugging_face import load_encoder, load_tokenizer, minilm_source
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.networks import Settings
from pellucid.models.composed.vector_file import NAMED, read_vectors, vector_file
from pellucid.models.families.encoder import Encoder
from pellucid.run.model import Parts

Vectors = str  # "minilm", "random", or the path of a text file
WIDTH = 384  # of MiniLM's word vectors
# They have no table of positions. The limit keeps one text from taking all memory; longer ones are read in windows.
MOST_PIECES = 4096


@dataclass(frozen=True)
class Encoded:
    """last_hidden_state: [batch piece width], by the name that encoders of Hugging Face have for it."""

    last_hidden_state: Tensor


@dataclass
class EncoderConfig:
    """What an encoder is made of; the fields have the names that other code reads from a configuration of Hugging
    Face.
    """

    model_type: str
    vocab_size: int
    pad_token_id: int
    settings: Settings
    hidden_size: int
    num_hidden_layers: int
    max_position_embeddings: int = MOST_PIECES

    def to_dict(self) -> dict[str, object]:
        """Everything, as JSON can hold it."""
        return asdict(self)


class WordVectors(nn.Module):
    """A table of word vectors, and dropout on what is read from it. width: numbers of a vector; MiniLM's have 384."""

    def __init__(self, vocabulary: int, vectors: Vectors, dropout: float, width: int = WIDTH) -> None:
        super().__init__()
        check_own_width(vectors, width)
        self.width = width
        self.table = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.table.weight, std=0.05)  # near the spread of MiniLM's
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """[batch piece] -> [batch piece width]"""
        return self.dropout(self.table(ids))


def check_own_width(vectors: Vectors, width: int | None) -> None:
    """Raise `BadSetting` for vectors that do not exist, or MiniLM's under another width than their own.

    Vectors of a file say their width, which `new_encoder` reads there.
    """
    if width is None:
        if vectors not in NAMED:
            raise no_such_vectors(vectors)
        return
    at_least("vector_width", width, 1)
    if vectors == "minilm" and width != WIDTH:
        raise BadSetting(
            f"vector_width={width} is not possible: MiniLM's word vectors have {WIDTH} numbers; leave vector_width "
            f"away, or give vectors='random'."
        )


def no_such_vectors(vectors: str) -> BadSetting:
    """The error for vectors that are neither known by name nor a file."""
    return BadSetting(
        f"vectors={quoted(vectors)} is not possible: there is no such file; give {', '.join(NAMED)}, or the path of a "
        f"text file of word vectors."
    )


class BlocksOnVectors(nn.Module):
    """Word vectors and blocks on them, one after the other: the network of an encoder that is trained from word vectors
    on.

    vectors: the word vectors. blocks: modules that take states [batch piece width] and which pieces are attended [batch
    piece], and return states; a block whose states have parts names them: `parts`. width: numbers of the last block's
    states.
    """

    def __init__(self, vectors: WordVectors, blocks: Iterable[nn.Module], width: int) -> None:
        super().__init__()
        self.vectors = vectors
        self.blocks = nn.ModuleList(blocks)
        self.width = width

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of word vectors."""
        return self.vectors.table

    @property
    def state_parts(self) -> dict[int, Parts]:
        """Layer, from 1, -> the named parts of its states; of blocks that declare `parts`."""
        named = {layer: getattr(block, "parts", None) for layer, block in enumerate(self.blocks, start=1)}
        return {layer: parts for layer, parts in named.items() if parts}

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None) -> Encoded:
        """[batch piece] -> states [batch piece width].

        position_ids are not read: the blocks know the order of pieces and no positions.
        """
        states, attended = self.vectors(input_ids), attention_mask.bool()
        for block in self.blocks:
            states = block(states, attended)
        return Encoded(states)


def new_encoder(name: str, changed: Settings, texts: Sequence[Sequence[str]] = ()) -> tuple[Encoder, Tokenizer]:
    """A registered encoder to be trained, drawn from torch's random state, and its tokenizer: MiniLM's, or one of whole
    words.

    changed: settings of the encoder that are not its defaults. texts: the train texts and pairs, which words of a
    vector file are looked up for. Raises `UnknownName` for unknown settings, `BadFile` where MiniLM's files are neither
    installed nor on the hub, and for a broken vector file.
    """
    settings = encoders.get(name).settings(changed)
    if vector_file(settings) is not None:
        return _on_vector_file(name, settings, texts)
    pretrained = None
    if settings.get("vectors") == "minilm":
        pretrained, tokenizer = load_encoder("minilm")
    else:
        tokenizer = load_tokenizer(minilm_source())
    assert tokenizer.pad_token_id is not None  # MiniLM's tokenizer has a pad token
    encoder = build_encoder(name, settings, len(tokenizer), tokenizer.pad_token_id)
    tokenizer.model_max_length = MOST_PIECES
    if pretrained is not None:
        with torch.no_grad():
            encoder.get_input_embeddings().weight.copy_(pretrained.get_input_embeddings().weight)
    _scale_vectors(encoder, settings)
    return encoder, tokenizer


def _scale_vectors(encoder: Encoder, settings: Settings) -> None:
    """Make the word vectors of a new encoder so many times as large as its settings say."""
    scale = settings.get("vector_scale", 1.0)
    assert isinstance(scale, int | float)  # the encoder declares it so
    with torch.no_grad():
        encoder.get_input_embeddings().weight.mul_(scale)


def _on_vector_file(name: str, settings: Settings, texts: Sequence[Sequence[str]]) -> tuple[Encoder, Tokenizer]:
    """An encoder whose words are those of the texts; the file's vectors for those that it has, random ones for the
    others.
    """
    path = vector_file(settings)
    assert path is not None  # the caller asked
    if not path.is_file():
        raise no_such_vectors(str(settings["vectors"]))
    least = settings.get("min_texts", RARE)
    assert isinstance(least, int)  # the encoder declares it so
    at_least("min_texts", least, 1)
    tokenizer = word_tokenizer(texts, least)
    ids = tokenizer.get_vocab()
    known = read_vectors(path, ids)
    vectors = torch.stack(list(known.values()))
    width = vectors.shape[1]
    if settings.get("vector_width") not in (None, width):
        raise BadSetting(
            f"vector_width={settings['vector_width']} is not possible: the vectors of {path} have {width} numbers; "
            f"leave vector_width away."
        )
    assert tokenizer.pad_token_id is not None  # ours has one
    encoder = build_encoder(name, settings | {"vector_width": width}, len(tokenizer), tokenizer.pad_token_id)
    tokenizer.model_max_length = MOST_PIECES
    table = encoder.get_input_embeddings().weight
    with torch.no_grad():
        nn.init.normal_(table, std=float(vectors.std(correction=0)))
        table[torch.tensor([ids[word] for word in known])] = vectors
    _scale_vectors(encoder, settings)
    return encoder, tokenizer


def build_encoder(name: str, settings: Settings, vocabulary: int, pad: int) -> Encoder:
    """A registered encoder under all its settings, with its configuration.

    vocabulary: how many ids it reads. pad: the id of the padding token.
    """
    encoder = encoders.get(name).make(vocabulary, **settings)
    encoder.config = EncoderConfig(name, vocabulary, pad, settings, encoder.width, len(encoder.blocks))
    return encoder


def rebuild_encoder(config: Mapping[str, Any]) -> Encoder:  # as EncoderConfig.to_dict left it
    """The encoder of a saved configuration; its weights are still to be loaded."""
    name = config["model_type"]
    settings = encoders.get(name).settings(config["settings"])
    return build_encoder(name, settings, config["vocab_size"], config["pad_token_id"])


# A tokenizer of whole words for word vectors from a file, by the rules of attention's critics.
#
# Jain & Wallace (2019), "Attention is not Explanation", as their released code prepares texts: lower case, a word
# with a digit becomes "qqq", words of few train texts are unknown, and each text stands between <SOS> and <EOS>,
# which attention leaves out. They split with spaCy; here a pattern splits, which parts "n't" and "'s" from their
# words as spaCy and GloVe do. Offsets belong to the text as written.

PAD, UNKNOWN, START, END, MASK = SPECIALS = ("<PAD>", "<UNK>", "<SOS>", "<EOS>", "<MASK>")
DIGITS = "qqq"  # what stands for every word with a digit
RARE = 2  # a word of fewer train texts is unknown
_FIRST = (
    "\ufdd0"  # no character of any text: the first one of a word with a digit, while the rest is still to be replaced
)
# A replaced character keeps its own offset, and what replaces several has the last one's. So a word with a digit is
# replaced in two parts, its first character and the rest, and "qqq" has the offsets of the whole word.
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
    common = sorted((word for word, count in counts.items() if count >= least), key=lambda word: (-counts[word], word))
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys((*SPECIALS, *common)))}
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
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace("’", "'"), *digits])
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)
    return backend


def _words(backend: Backend, text: str) -> list[str]:
    """The words of a text as the tokenizer looks them up."""
    normal = backend.normalizer.normalize_str(text)
    return [word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)]
