"""all-MiniLM-L6-v2, fine-tuned here for seconds, as a tagger, a reader and a reranker: real answers, explained."""

import random

import pytest
import torch
import transformers

import pellucid
from pellucid.models.classifiers.hugging_face import minilm_source

TAGS = ("O", "B-PER", "B-LOC")
PEOPLE = ("Mona", "Tom", "Ada", "Ivan", "Ruth", "Omar", "Lena", "Hugo")
PLACES = ("Oslo", "Lima", "Paris", "Cairo", "Rome", "Delhi", "Tokyo", "Bergen")
FRAMES = (
    "{person} flew to {place} yesterday .",
    "In {place} we met {person} again .",
    "{person} has lived in {place} for years .",
    "The train from {place} was late , said {person} .",
)
STEPS, BATCH = 60, 8


def sentences(seed):
    """Without end: a sentence with its person and its place."""
    draw = random.Random(seed)
    while True:
        person, place = draw.choice(PEOPLE), draw.choice(PLACES)
        yield draw.choice(FRAMES).format(person=person, place=place), person, place


def trained(kind, loss_of, **config):
    """MiniLM with a new head, after some steps on sentences; loss_of: (network, tokenizer, sentences) -> loss."""
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm_source())
    network = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(minilm_source(), **config)
    optimiser, stream = torch.optim.AdamW(network.parameters(), lr=3e-4), sentences(1)
    for _ in range(STEPS):
        loss = loss_of(network, tokenizer, [next(stream) for _ in range(BATCH)])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network.eval(), tokenizer


def tag_loss(network, tokenizer, batch):
    columns = tokenizer([text for text, _, _ in batch], return_tensors="pt", padding=True)
    gold = torch.full(columns["input_ids"].shape, -100)
    for row, (text, person, place) in enumerate(batch):
        for piece, word in enumerate(columns.word_ids(row)):
            if word is not None:
                start, end = columns.word_to_chars(row, word)
                gold[row, piece] = {person: 1, place: 2}.get(text[start:end], 0)
    return network(**columns, labels=gold).loss


def answer_loss(network, tokenizer, batch):
    questions = [f"Who was in {place} ?" for _, _, place in batch]
    columns = tokenizer(questions, [text for text, _, _ in batch], return_tensors="pt", padding=True)
    spans = [columns.char_to_token(row, text.index(person), 1) for row, (text, person, _) in enumerate(batch)]
    gold = torch.tensor(spans)
    return network(**columns, start_positions=gold, end_positions=gold).loss


@pytest.mark.long
def test_a_trained_tagger_is_explained_by_its_pipelines_entities():
    names = {"id2label": dict(enumerate(TAGS)), "label2id": {tag: number for number, tag in enumerate(TAGS)}}
    network, tokenizer = trained("TokenClassification", tag_loss, num_labels=3, **names)
    pipeline = transformers.pipeline("ner", model=network, tokenizer=tokenizer, aggregation_strategy="simple")
    text = "In Bergen we met Ruth again ."
    results = pellucid.explain(pipeline, text, "integrated_gradients", n_steps=64)
    assert [(result.example.meta["answer_place"][3], result.answer) for result in results] == [
        ("Bergen", "B-LOC"),
        ("Ruth", "B-PER"),
    ]
    for result, entity in zip(results, pipeline(text), strict=True):
        assert result.prediction.probability == pytest.approx(float(entity["score"]), abs=1e-5)
        assert result.top(1)[0].text == result.example.meta["answer_place"][3]  # the name itself counts most


@pytest.mark.long
def test_a_trained_reader_is_explained_by_its_own_answer():
    network, tokenizer = trained("QuestionAnswering", answer_loss)
    model = pellucid.load(network, tokenizer)
    pair = ("Who was in Oslo ?", "The train from Oslo was late , said Ada .")
    result = pellucid.explain(model, [pair], "occlusion")[0]
    assert result.answer == "Ada" and result.prediction.probability > 0.5
    columns = tokenizer(*pair, return_tensors="pt")
    with torch.no_grad():
        answer = network(**columns)
    possible = torch.tensor([segment == 1 for segment in columns.sequence_ids(0)])
    possible[0] = True
    place = columns.char_to_token(0, pair[1].index("Ada"), 1)
    expected = sum(
        float(logits[0].masked_fill(~possible, -torch.inf).log_softmax(-1)[place])
        for logits in (answer.start_logits, answer.end_logits)
    )
    assert result.target.value == pytest.approx(expected, abs=1e-4)
    assert result.top(1)[0].text == "Ada"


def relevance_loss(network, tokenizer, batch):
    """A question about a place is to fit the sentence about it better than that about another place."""
    questions = [f"Who was in {place} ?" for _, _, place in batch]
    texts, places = [text for text, _, _ in batch], [place for _, _, place in batch]
    shifted = [texts[(row + 1) % len(batch)] for row in range(len(batch))]
    gold = [1.0] * len(batch) + [float(place in text) for place, text in zip(places, shifted, strict=True)]
    columns = tokenizer(questions * 2, texts + shifted, return_tensors="pt", padding=True)
    logits = network(**columns).logits[:, 0]
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(gold))


@pytest.mark.long
def test_a_trained_reranker_ranks_by_the_place_of_the_question():
    network, tokenizer = trained("SequenceClassification", relevance_loss, num_labels=1)
    model = pellucid.load(network, tokenizer, problem="regression")
    question = "Who was in Oslo ?"
    documents = [f"{person} flew to {place} yesterday ." for person, place in zip(PEOPLE, PLACES, strict=True)]
    results = pellucid.explain(model, [(question, document) for document in documents], "occlusion")
    with torch.no_grad():
        plain = [float(network(**tokenizer(question, each, return_tensors="pt")).logits) for each in documents]
    assert [result.target.value for result in results] == pytest.approx(plain, abs=1e-4)
    best = results.sorted_by("value", ascending=False)[0]
    assert best.example.segments[1] == documents[0]  # the sentence about Oslo
    assert {unit.text for unit in best.top(2)} == {"Oslo"}  # in the question, and in the document
