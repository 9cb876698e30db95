"""What stands in the place of a word that is taken out, of what a model reads and of what it wrote: each score is
written out again by plain calls of the library.
"""

import numpy as np
import pytest
import torch
from transformers import RwkvConfig, RwkvForCausalLM

import pellucid
from pellucid.base.errors import ModelCannot
from pellucid.base.kinds import attributions
from pellucid.run.batch import edit
from pellucid.studio.hidden_words import without_words
from pellucid.text.example import as_examples
from tests.shared.parsed import parsed
from tests.shared.tiny import byte_pairs_alone
from tests.shared.tiny_writing import KINDS, TRANSLATORS, tiny_writing

PAIR = ("A good film about a dog.", "A fine story, well told.")
WORD = 5
LONE = ("Dull", " the good one.")  # a prompt of one word, and a word of one piece
CASES = [(kind, operator) for kind in KINDS for operator in ("absent", "delete")] + [
    ("bart", "mask"),
    *((kind, "pad") for kind in KINDS if kind != "llama"),
]


def begins_texts(tokenizer):
    """The token that begins texts, or ends them."""
    return tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id


def literal_prompt(model, pair, piece, removed, operator):
    """The log-probability of a piece of prompt and continuation by a language model, without others of their pieces."""
    network, tokenizer = model.network, model.tokenizer
    encoded = tokenizer(pair[0] + pair[1] if pair[1][0] == " " else " ".join(pair), return_offsets_mapping=True)
    ids, ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
    places = [*range(piece)]
    if operator in ("mask", "pad"):
        instead = model.blank_ids()[operator]
        read, positions = [instead if place in removed else ids[place] for place in places], places
    else:
        positions = [place for place in places if place not in removed]
        read = [ids[place] for place in positions]
        if not any(ends[place] <= len(pair[0]) for place in positions):  # nothing of the prompt is left
            read, positions = [begins_texts(tokenizer), *read], [0, *positions]
        if operator == "delete":
            positions = [*range(len(read))]
    logits = network(input_ids=torch.tensor([read]), position_ids=torch.tensor([positions])).logits[0, -1]
    return float(logits.log_softmax(-1)[ids[piece]].detach())


def literal_target(model, pair, piece, removed, operator):
    """The same of a piece of the target by a translator; pieces of the source come first, then the start token."""
    network, tokenizer = model.network, model.tokenizer
    source, labels = tokenizer(pair[0])["input_ids"], tokenizer(text_target=pair[1])["input_ids"]
    target, wanted = [network.config.decoder_start_token_id, *labels], labels[piece - len(source) - 1]
    target = target[: piece - len(source)]
    attended = [[number not in removed for number in range(len(source))]]
    attended += [[number + len(source) not in removed for number in range(len(target))]]
    if operator in ("mask", "pad"):
        instead = model.blank_ids()[operator]
        source, target = (
            [id if there else instead for id, there in zip(ids, of_ids, strict=True)]
            for ids, of_ids in zip((source, target), attended, strict=True)
        )
        attended = [[True] * len(source), [True] * len(target)]
    elif operator == "delete":
        source, target = (
            [id for id, there in zip(ids, of_ids, strict=True) if there]
            for ids, of_ids in zip((source, target), attended, strict=True)
        )
        attended = [[True] * len(source), [True] * len(target)]
    while not attended[1][-1]:  # the next word is written after the last one that is there
        target, attended[1] = target[:-1], attended[1][:-1]
    logits = network(
        input_ids=torch.tensor([source]),
        attention_mask=torch.tensor([attended[0]]).long(),
        decoder_input_ids=torch.tensor([target]),
        decoder_attention_mask=torch.tensor([attended[1]]).long(),
    ).logits[0, -1]
    return float(logits.log_softmax(-1)[wanted].detach())


def literal(model, kind, pair, step, removed=(), operator="absent"):
    """The log-probability of a word, piece by piece, each by a call of its own."""
    (row,) = model.encode(as_examples([pair])).rows
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    (words,) = pellucid.Word(step).resolve(model.encode(as_examples([pair])), model).words
    of_piece = literal_target if kind in TRANSLATORS else literal_prompt
    return sum(of_piece(model, pair, written[place], removed, operator) for place in words[0].pieces)


@pytest.mark.parametrize("kind, operator", CASES)
def test_every_score_is_that_of_plain_calls_without_the_word(kind, operator):
    """The first word of a prompt and the word before the explained one are no other case than the rest."""
    model = tiny_writing(kind)
    (one,) = pellucid.explain(model, [PAIR], "occlusion", target=pellucid.Word(WORD), operator=operator, progress=False)
    assert one.settings["operator"] == operator
    whole, pieces = literal(model, kind, PAIR, WORD), model.encode(as_examples([PAIR])).pieces_of(0, "word")
    written = [n for n, segment in enumerate(one.units.segment) if segment == 1]
    for unit, covered in zip(one.units.content, pieces, strict=True):
        if unit in written[WORD - 1 :]:
            assert one.scores[unit] == 0
        else:
            cut = literal(model, kind, PAIR, WORD, covered, operator)
            assert one.scores[unit] == pytest.approx(whole - cut, abs=2e-5), one.units.labels[unit]


@pytest.mark.parametrize("operator", ("absent", "delete"))
@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_of_a_prompt_is_left_it_is_read_as_an_empty_one(kind, operator):
    model = tiny_writing(kind)
    whole = literal(model, kind, LONE, 1)
    (lone,) = model.encode(as_examples([LONE])).pieces_of(0, "word")[:1]
    fall = whole - literal(model, kind, LONE, 1, lone, operator)
    target = pellucid.Word(1)
    (one,) = pellucid.explain(model, [LONE], "occlusion", target=target, operator=operator, progress=False)
    assert one.words().scores[one.words().units.content[0]] == pytest.approx(fall, abs=2e-5) and abs(fall) > 1e-4
    if kind in ("gpt2", "qwen2") and operator == "delete":
        (empty,) = pellucid.explain(model, [("", LONE[1])], "occlusion", target=target, progress=False)
        assert empty.target.value == pytest.approx(whole - fall, abs=2e-5)


@pytest.mark.parametrize("kind", ("gpt2", "t5"))
def test_all_that_take_words_out_go_one_way(kind):
    """Every method with an operator, metrics and the studio; the first word that is written depends on the prompt
    alone, here on one word.
    """
    model, names = tiny_writing(kind), [n for n in attributions.names() if "operator" in attributions.get(n).defaults]
    batch = model.encode(as_examples([LONE]))
    (lone,) = batch.pieces_of(0, "word")[:1]
    falls = [literal(model, kind, LONE, step) - literal(model, kind, LONE, step, lone) for step in range(1, 5)]
    assert len(names) >= 6
    for name in names:
        (one,) = pellucid.explain(model, [LONE], name, target=pellucid.Word(1), progress=False)
        assert one.words().scores[one.words().units.content[0]] == pytest.approx(falls[0], rel=0.05), name
    (text,) = pellucid.explain(model, [LONE], "occlusion", target=pellucid.Word("text"), progress=False)
    count = sum(id >= 0 for id in batch.rows[0].written)
    whole = np.exp(sum(literal(model, kind, LONE, step) for step in range(1, 5)) / count)
    cut = np.exp(np.log(whole) - sum(falls) / count)
    assert without_words(model, text, [0])[:, 0] == pytest.approx([whole, cut], rel=1e-4)
    table = pellucid.compare(model, [LONE], ["occlusion"], ["comprehensiveness"], resamples=10, progress=False)
    assert table.cell("occlusion", "comprehensiveness").value.mean == pytest.approx(whole - cut, rel=1e-3)


def test_a_network_that_reads_behind_its_mask_gets_the_text_without_the_word():
    tokenizer = byte_pairs_alone()
    config = RwkvConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, attention_hidden_size=16)
    torch.manual_seed(3)
    network = RwkvForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(4.0)
    model = pellucid.load(network, tokenizer)
    absent, deleted = (
        pellucid.explain(model, [PAIR], "occlusion", operator=operator, progress=False)[0].scores
        for operator in ("absent", "delete")
    )
    np.testing.assert_allclose(absent, deleted, atol=1e-5)
    assert absent.any()
    row = model.encode(as_examples([PAIR])).rows[0]
    special = model.encode(as_examples([PAIR])).special
    assert len(model.as_read([edit(row, [0, 3], "absent", special)])[0]) == len(row) - 2


def test_the_page_says_what_stands_there_and_a_token_that_is_missing_ends_in_a_sentence(tmp_path):
    model = tiny_writing("gpt2")
    for operator, sentence in (("absent", "left out while the others keep their places"), ("pad", "the padding token")):
        results = pellucid.explain(model, [PAIR], "occlusion", operator=operator, progress=False)
        page = parsed(pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")).text
        assert sentence in page and f"operator “{operator}”" in page
        assert ("written after the last one that is left" in page) == (operator == "absent")
    with pytest.raises(ModelCannot, match="has no mask token; use the operator 'absent' or 'delete'"):
        pellucid.explain(model, [PAIR], "occlusion", operator="mask", progress=False)
