"""Joint pieces: one table of byte pairs for both languages, learnt on train texts only; bytes stand for what it does not know."""

from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from pellucid.core.foundation.errors import BadSetting
from pellucid.models.translation.untrained_network import END, PAD

PAD_TOKEN, END_TOKEN = "<pad>", "</s>"
BYTES = 256


def learn_pieces(texts: Iterable[str], n_pieces: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most so many pieces, bytes and two special tokens among them; equal texts give equal pieces.

    n_pieces: 300 or more. Raises `BadSetting` for fewer.
    """
    if n_pieces < BYTES + 44:
        raise BadSetting(f"pieces={n_pieces} is too few; give {BYTES + 44} or more: the bytes are {BYTES}.")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)  # type: ignore[assignment]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    trainer = trainers.BpeTrainer(
        vocab_size=n_pieces,
        special_tokens=[PAD_TOKEN, END_TOKEN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    assert (tokenizer.token_to_id(PAD_TOKEN), tokenizer.token_to_id(END_TOKEN)) == (PAD, END)
    tokenizer.post_processor = processors.Sequence(  # type: ignore[assignment]
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(
                single=f"$A {END_TOKEN}",
                pair=f"$A {END_TOKEN} $B {END_TOKEN}",
                special_tokens=[(END_TOKEN, END)],
            ),
        ]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD_TOKEN,
        eos_token=END_TOKEN,
        clean_up_tokenization_spaces=False,
        split_special_tokens=True,  # a text that spells one out is text
    )
