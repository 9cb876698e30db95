"""Translators that know many languages: their codes are among the pieces, and the words that are explained are the
text's.
"""

import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, M2M100Config, MBartConfig, MBartTokenizer, NllbTokenizer

import pellucid
from pellucid.base.errors import BadSetting, UnknownName
from tests.shared.tiny import sentence_piece_before_end
from tests.shared.tiny_writing import BOTH_PARTS, tiny_writing

PAIR = ("A fine film.", "A lovely story.")
CODES = {"nllb": ("eng_Latn", "deu_Latn", "fra_Latn"), "mbart": ("en_XX", "de_DE", "fr_XX")}


def tokenizer_of(kind):
    """With the pieces of our small SentencePiece model; languages are not chosen yet."""
    model = json.loads(sentence_piece_before_end().backend_tokenizer.to_str())["model"]
    if kind == "mbart":
        return MBartTokenizer(vocab=[(piece, score) for piece, score in model["vocab"]])
    pieces = [piece for piece, _ in model["vocab"]]
    letters = sorted({letter for piece in pieces for letter in piece})
    return NllbTokenizer(
        vocab={piece: at for at, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *letters])}, merges=[]
    )


def network_of(kind, tokenizer):
    config = (MBartConfig if kind == "mbart" else M2M100Config)(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=None,
        **BOTH_PARTS,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return AutoModelForSeq2SeqLM.from_config(config).eval()


@pytest.fixture(scope="module", params=("nllb", "mbart"))
def translator(request):
    tokenizer = tokenizer_of(request.param)
    return request.param, tokenizer, network_of(request.param, tokenizer)


def loaded(translator, source=0, target=1):
    kind, tokenizer, network = translator
    codes = CODES[kind]
    return pellucid.load(network, tokenizer, source_language=codes[source], target_language=codes[target])


def test_the_answers_are_those_of_the_users_own_call(translator):
    kind, _, network = translator
    model = loaded(translator)
    result = pellucid.explain(model, [PAIR], "gradient_x_input", target=pellucid.Word("text"), progress=False)[0]
    own = tokenizer_of(kind)
    own.src_lang, own.tgt_lang = CODES[kind][:2]
    inputs = own(PAIR[0], text_target=PAIR[1], return_tensors="pt")
    with torch.no_grad():
        logits = network(**inputs).logits[0].log_softmax(-1)
    labels = inputs["labels"][0]
    text = [at for at, piece in enumerate(labels.tolist()) if piece not in own.all_special_ids]
    assert result.target.value == pytest.approx(float(logits[text, labels[text]].sum()), abs=1e-5)
    assert np.abs(result.scores).max() > 0


def test_the_language_that_is_written_changes_the_answer_and_the_hash(translator):
    german, french = loaded(translator), loaded(translator, target=2)
    assert german.hash != french.hash
    values = [
        pellucid.explain(one, [PAIR], "gradient", target=pellucid.Word("text"), progress=False)[0].target.value
        for one in (german, french)
    ]
    assert values[0] != values[1]


def test_it_writes_what_the_library_writes(translator):
    kind, _, network = translator
    model = loaded(translator)
    own = tokenizer_of(kind)
    own.src_lang, own.tgt_lang = CODES[kind][:2]
    ids = own(PAIR[0], return_tensors="pt")
    code = own.convert_tokens_to_ids(own.tgt_lang)
    way = {  # of the model's own page: the code comes first, or after the end of text
        "mbart": {"decoder_start_token_id": code, "max_new_tokens": 8},
        "nllb": {"forced_bos_token_id": code, "max_new_tokens": 9},
    }[kind]
    with torch.no_grad():
        answer = network.generate(**ids, **way, do_sample=False, num_beams=1)
    expected = own.batch_decode(answer, skip_special_tokens=True)[0].strip()
    assert expected
    assert pellucid.write(model, PAIR[0], max_pieces=8, progress=False)[0].text == expected


def test_codes_are_checked(translator):
    kind, tokenizer, network = translator
    with pytest.raises(UnknownName, match="language"):
        pellucid.load(network, tokenizer, source_language=CODES[kind][0], target_language="klingon")
    tiny = tiny_writing("bart")
    with pytest.raises(BadSetting, match="no codes of languages"):
        pellucid.load(tiny.network, tiny.tokenizer, target_language="deu_Latn")


def test_without_a_target_language_loading_asks_for_one():
    tokenizer = tokenizer_of("mbart")
    with pytest.raises(BadSetting, match="writes several languages; give target_language="):
        pellucid.load(network_of("mbart", tokenizer), tokenizer)
