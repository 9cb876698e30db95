"""Chats: what is explained is what the model's own template and tokenizer give, and nothing is added to it."""

import json

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import pellucid
from pellucid.base.errors import BadFile, BadInput, ModelCannot, Notice
from pellucid.explaining.inputs.chats import chats_of_file
from pellucid.text.passages import turns_of

TEMPLATE = (
    "{{ bos_token }}{% if tools %}<tools>{{ tools[0].name }}\n{% endif %}{% for m in messages %}"
    "{{ '<bot>' if m.role == 'assistant' else '<user>' }}\n{{ m.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}{{ '<bot>\n' }}{% endif %}"
)
CHAT = [
    {"role": "user", "content": " Was the soup cold? "},
    {"role": "assistant", "content": "No."},
    {"role": "user", "content": "Was the soup cold?"},
]


@pytest.fixture(scope="module")
def tokenizer():
    """Of bytes, which puts a token before every text, as its template does, too."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {"<s>": 0, "</s>": 1, "<user>": 2, "<bot>": 3}
    core = Tokenizer(models.BPE(vocab={c: n + 4 for n, c in enumerate(alphabet)} | ids, merges=[]))
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    core.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 0)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", additional_special_tokens=["<user>", "<bot>"]
    )
    fast.chat_template = TEMPLATE
    return fast


@pytest.fixture(scope="module")
def network(tokenizer):
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=len(tokenizer), **sizes, bos_token_id=0, eos_token_id=1, initializer_range=0.3)
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def model(network, tokenizer):
    return pellucid.load(network, tokenizer)


def log_probability(network, tokenizer, ids, answer):
    """Of an answer after these ids, by the network alone."""
    written = tokenizer(answer, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        numbers = torch.log_softmax(network(torch.tensor([ids + written])).logits[0].double(), -1)
    return sum(float(numbers[len(ids) - 1 + place, id]) for place, id in enumerate(written))


def of_the_template(tokenizer, messages, **settings):
    return list(tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False, **settings))


def whole(model, texts, **options):
    return pellucid.explain(model, texts, "occlusion", target=pellucid.Word("text"), **options)[0]


@pytest.mark.parametrize("settings", [{}, {"tools": [{"name": "menu"}]}])
def test_the_answer_has_the_probability_that_it_has_after_the_templates_own_ids(model, network, tokenizer, settings):
    explanation = whole(model, CHAT, answer="yes it was", template=settings)
    right = log_probability(network, tokenizer, of_the_template(tokenizer, CHAT, **settings), "yes it was")
    assert explanation.target.value == pytest.approx(right, abs=1e-4)
    assert explanation.caveats == ()


def test_a_prompt_that_begins_with_the_first_token_gets_no_second_one(model, network, tokenizer):
    prompt = tokenizer.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    explanation = whole(model, [(prompt, "yes")])
    right = log_probability(network, tokenizer, of_the_template(tokenizer, CHAT), "yes")
    assert explanation.target.value == pytest.approx(right, abs=1e-4)
    assert explanation.caveats == () and explanation.units.segment[0] == -1


def test_only_words_of_messages_are_explained(model):
    explanation = whole(model, CHAT, answer="yes")
    turns, prompt = turns_of(explanation.example), explanation.example.segments[0]
    assert [(turn.role, prompt[turn.start : turn.end]) for turn in turns] == [
        ("user", "Was the soup cold?"),
        ("assistant", "No."),
        ("user", "Was the soup cold?"),
    ]
    words = [word for word, _ in explanation]
    assert words == "Was the soup cold ? No . Was the soup cold ? yes".split()


def test_a_message_is_a_unit_also_where_two_say_the_same(model):
    by_word = pellucid.explain(model, CHAT, "gradient_x_input", target=pellucid.Word("text"), answer="yes")[0]
    by_message = pellucid.explain(
        model, CHAT, "gradient_x_input", target=pellucid.Word("text"), answer="yes", unit="message"
    )[0]
    assert [word for word, _ in by_message][:3] == ["Was the soup cold?", "No.", "Was the soup cold?"]
    scores = [score for _, score in by_word]
    expected = [sum(scores[:5]), sum(scores[5:7]), sum(scores[7:12])]
    np.testing.assert_allclose([score for _, score in by_message][:3], expected, atol=1e-4)
    with pytest.raises(BadInput, match="is no chat and has no messages"):
        pellucid.explain(model, [("A prompt.", "yes")], "occlusion", unit="message")


def test_without_an_answer_the_model_writes_it_after_the_templates_ids(model, network, tokenizer):
    ids = torch.tensor([of_the_template(tokenizer, CHAT[:1])])
    written = network.generate(ids, do_sample=False, max_new_tokens=128, pad_token_id=1)[0, ids.shape[1] :]
    explanation = whole(model, CHAT[:1])
    assert explanation.example.segments[1] == tokenizer.decode(written, skip_special_tokens=True)


def test_rows_tables_and_files_of_chats(model, tmp_path):
    first, second = (CHAT, "yes"), (CHAT[:1], "no")
    path = tmp_path / "chats.jsonl"
    lines = [{"messages": CHAT, "answer": "yes"}, {"messages": CHAT[:1], "answer": "no", "id": "short"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    expected = pellucid.explain(model, [first, second], "occlusion")
    for data in (lines, {"messages": [CHAT, CHAT[:1]], "answer": ["yes", "no"]}, path):
        results = pellucid.explain(model, data, "occlusion")
        assert [each.scores.tobytes() for each in results] == [each.scores.tobytes() for each in expected]
    assert results[1].example.id == "short"
    last = pellucid.explain(model, [*CHAT[:1], {"role": "assistant", "content": "no"}], "occlusion")[0]
    assert last.scores.tobytes() == expected[1].scores.tobytes()
    pellucid.save(expected, tmp_path / "chats.parquet")
    assert pellucid.read(tmp_path / "chats.parquet") == list(expected)
    page = pellucid.report(expected, path=tmp_path / "page.html").read_text()
    assert page.count(">user<") == 3 and page.count(">assistant<") == 1 and page.count(">answer<") == 2


def test_a_column_of_texts_may_be_called_messages(bert):
    results = pellucid.explain(bert, {"messages": ["A good film.", "A dull plot."]}, "occlusion", text="messages")
    assert [each.example.text for each in results] == ["A good film.", "A dull plot."]


def test_a_message_that_the_template_hides_is_named(network, tokenizer):
    tokenizer.chat_template = TEMPLATE.replace("in messages %}", "in messages if m.role != 'system' %}")
    try:
        chat = [{"role": "system", "content": "Be short."}, *CHAT[:1]]
        with pytest.warns(Notice, match=r"does not show 1 of 2 messages .* \(system\)"):
            explanation = whole(pellucid.load(network, tokenizer), chat, answer="no")
        assert [turn.role for turn in turns_of(explanation.example)] == ["user"]
    finally:
        tokenizer.chat_template = TEMPLATE


def test_bad_chats_end_in_one_sentence(model, bert, network, tokenizer, tmp_path):
    for chat, sentence in (
        ([{"role": "user"}], "message 0 is .* give a role"),
        ([{"role": "user", "content": [{"type": "image"}]}], "more than text"),
    ):
        with pytest.raises(BadInput, match=sentence):
            whole(model, chat)
    with pytest.raises(BadInput, match="classifies texts; give texts"):
        pellucid.explain(bert, CHAT, "occlusion")
    with pytest.raises(BadInput, match="does not fit 1 texts"):
        whole(model, CHAT, answer=["yes", "no"])
    (tmp_path / "no.jsonl").write_text('{"text": "A film."}\n')
    with pytest.raises(BadFile, match="does not hold chats"):
        chats_of_file(tmp_path / "no.jsonl")
    tokenizer.chat_template = "{{ raise_exception('roles out of order') }}"
    try:
        with pytest.raises(BadInput, match=r"refuses these messages .*roles out of order"):
            whole(pellucid.load(network, tokenizer), CHAT)
        tokenizer.chat_template = None
        with pytest.raises(ModelCannot, match="has no chat template"):
            whole(pellucid.load(network, tokenizer), CHAT)
    finally:
        tokenizer.chat_template = TEMPLATE
