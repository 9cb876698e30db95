"""Words that a model writes: their numbers are those of the library's own call, whatever is read beside them."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.models.writing.tokenizing import encoded_source, encoded_target, joined
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.packing import scheduler_for
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_classifier
from tests.shared.tiny_writing import KINDS, TRANSLATORS, tiny_writing

PAIR = ("A good film about a dog.", "A fine story, well told.")
PAIRS = [
    PAIR,
    ("Dull.", "Not a good one at all, a long bad film."),
    ("The staff were kind", "to us all day."),
]
TOLERANCE = 2e-5


def literal(model, pair):
    """[piece]: log-probabilities of the second text's pieces by the library's own call."""
    network, tokenizer = model.network, model.tokenizer
    read = encoded_source(tokenizer, pair[0])["input_ids"]
    labels = encoded_target(tokenizer, pair[1])["input_ids"]
    logits = network(input_ids=torch.tensor([read]), labels=torch.tensor([labels])).logits[0]
    special = set(tokenizer.all_special_ids)
    pieces = [number for number, id in enumerate(labels) if id not in special]
    return logits.log_softmax(-1)[pieces, [labels[piece] for piece in pieces]].detach().numpy()


def literal_continuation(model, pair):
    """[piece]: the same of a language model, which reads both as one text."""
    text, start = joined(as_examples([pair])[0], *pair)
    encoded = encoded_source(model.tokenizer, text)
    ids = encoded["input_ids"]
    first = next(
        number
        for number, (segment, (_, end)) in enumerate(
            zip(encoded.sequence_ids(0), encoded["offset_mapping"], strict=True)
        )
        if segment is not None and end > start
    )
    logits = model.network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    return np.array([float(logits[place - 1, ids[place]].detach()) for place in range(first, len(ids))])


def values_of(model, pair, kind):
    return literal(model, pair) if kind in TRANSLATORS else literal_continuation(model, pair)


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind):
    return tiny_writing(kind)


def test_the_answer_is_the_log_probability_of_the_librarys_own_call(model, kind):
    results = pellucid.explain(model, PAIRS, "gradient_x_input", target=pellucid.Word("text"), progress=False)
    for pair, one in zip(PAIRS, results, strict=True):
        assert one.target.value == pytest.approx(values_of(model, pair, kind).sum(), rel=TOLERANCE)
        assert one.diagnostics["parity"] <= 1e-4 and one.prediction.label == pair[1]


def test_each_word_has_a_row_and_what_comes_later_scores_nothing(model):
    (one,) = pellucid.explain(model, PAIR, "gradient_x_input", progress=False)
    ((axis, labels),) = one.rows
    assert axis == "word" and labels == ("1 A", "2 fine", "3 story", "4 ,", "5 well", "6 told", "7 .")
    written = [unit for unit, segment in enumerate(one.words().units.segment) if segment == 1]
    scores = one.words().scores
    for row in range(len(labels)):
        assert not scores[row, written[row:]].any() and scores[row, : written[0]].any()


def test_the_network_itself_does_not_look_ahead(model):
    """The gradient by pieces that come later is 0 before anything is set to 0."""
    batch = model.encode(as_examples([PAIR]))
    target = pellucid.Word("story").resolve(batch, model)
    gradient = ForwardPass(model, batch, scheduler_for(model)).gradient(target)[0].abs().sum(-1)
    written = [piece for piece, id in enumerate(batch.rows[0].written) if id >= 0]
    last = written[target.words[0][0].pieces[-1]]
    assert not gradient[last:].any() and gradient[:last].any()


@pytest.mark.parametrize("method", ("occlusion", "gradient_x_input"))
def test_alone_equals_batch(kind, method):
    together = pellucid.explain(tiny_writing(kind), PAIRS, method, progress=False)
    for pair, one in zip(PAIRS, together, strict=True):
        (alone,) = pellucid.explain(tiny_writing(kind), pair, method, progress=False)
        np.testing.assert_allclose(alone.scores, one.scores, atol=1e-4)


def test_a_lead_is_the_difference_of_two_log_probabilities(model, kind):
    other = (PAIR[0], "A fine film, well told.")
    (one,) = pellucid.explain(model, PAIR, "gradient_x_input", target=("story", "film"), progress=False)
    own, rival = values_of(model, PAIR, kind), values_of(model, other, kind)
    ids = [[id for id in model.encode(as_examples([pair])).rows[0].written if id >= 0] for pair in (PAIR, other)]
    first = next(place for place, (a, b) in enumerate(zip(*ids, strict=False)) if a != b)
    assert one.target.value == pytest.approx(own[first] - rival[first], rel=1e-4, abs=1e-5)
    assert str(one.target) == "log-probability of story against film"


@pytest.mark.parametrize("kind", ("bart", "gpt2"))
def test_greedy_writing_is_the_likeliest_piece_each_time(kind):
    model = tiny_writing(kind)
    written = pellucid.write(model, PAIR[0], max_pieces=6)[0]
    ids = encoded_source(model.tokenizer, PAIR[0])["input_ids"]
    read = torch.tensor([ids])
    so_far = torch.tensor([[model.network.config.decoder_start_token_id]]) if kind == "bart" else read
    new = []
    for _ in range(6):
        arguments = {"input_ids": read, "decoder_input_ids": so_far} if kind == "bart" else {"input_ids": so_far}
        new.append(int(model.network(**arguments).logits[0, -1].argmax()))
        so_far = torch.cat([so_far, torch.tensor([[new[-1]]])], 1)
        if new[-1] == model.network.config.eos_token_id:
            break
    literal_text = model.tokenizer.decode(new, skip_special_tokens=True)
    assert written.text.strip() == literal_text.strip()


BAD = (
    (PAIR, pellucid.Word("a"), BadSetting, "The word 'a' is not in the text that the model writes"),
    (("Dull.", "No, no, no."), pellucid.Word("no"), BadSetting, r"is there 2 times .*give its number: 3, 5"),
    (PAIR, pellucid.Word(8), BadSetting, "has words 1 to 7"),
    (PAIR, pellucid.Word("story", against="story"), BadInput, "is no other word than 'story'"),
    (
        PAIR,
        pellucid.HiddenState(5),
        BadSetting,
        "layer=5 is no layer of tiny bart; give a number from 0 to 4",
    ),
    (PAIR, pellucid.HiddenState("head"), ModelCannot, "has no classification head, so no states that one"),
    (("a " * 200, "b"), pellucid.Word(), BadInput, "reads 96 at once"),
)


@pytest.mark.parametrize("pair, target, error, message", BAD)
def test_what_cannot_be_explained_is_refused_in_one_sentence(pair, target, error, message):
    with pytest.raises(error, match=message):
        pellucid.explain(tiny_writing("bart"), pair, "gradient_x_input", target=target, progress=False)


def test_classifiers_write_no_words_and_doors_of_classes_read_no_writing_model():
    with pytest.raises(ModelCannot, match="writes no words; explain one of its classes"):
        pellucid.explain(tiny_classifier(), "A film.", "gradient", target=pellucid.Word(), progress=False)
    with pytest.raises(ModelCannot, match="writes texts, and this works with classifiers alone"):
        pellucid.predict(tiny_writing(), "A film.")
    with pytest.raises(BadSetting, match="a word has its log-probability"):
        pellucid.explain(tiny_writing(), PAIR, output="probability", progress=False)


@pytest.mark.parametrize("kind", ("t5", "gpt2"))
def test_a_saved_folder_loads_and_gives_the_same_numbers(kind, tmp_path):
    model = tiny_writing(kind)
    model.network.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    loaded = pellucid.load(tmp_path)
    one, other = (
        pellucid.explain(which, PAIR, "gradient_x_input", progress=False)[0].scores for which in (model, loaded)
    )
    np.testing.assert_array_equal(one, other)
    with pytest.raises(BadSetting, match="problem=, max_length=, language_head= and route= belong to classifiers"):
        pellucid.load(tmp_path, max_length=64)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_neighbours_are_seen_to_change_nothing(kind):
    """The trial of packing, which fills padding with noise, lets rows of all lengths run together."""
    model = tiny_writing(kind)
    pellucid.explain(model, PAIRS, "occlusion", progress=False)
    assert set(model.packings.values()) == {"padded"}


def test_what_is_written_ends_where_there_is_no_more_room():
    model = tiny_writing("gpt2")
    (one,) = pellucid.write(model, "A good film about a dog.", max_pieces=4096, progress=False)
    assert one.is_cut and one.source == "A good film about a dog."
    with pytest.raises(BadInput, match=r"has \d+ pieces, and tiny gpt2 reads 96 at once"):
        pellucid.write(model, "a film " * 100, progress=False)
    with pytest.raises(BadInput, match="is a pair; give the text alone"):
        pellucid.write(model, PAIRS, progress=False)
    with pytest.raises(ModelCannot, match="writes no texts; give a translator"):
        pellucid.write(tiny_classifier(), "A film.", progress=False)
