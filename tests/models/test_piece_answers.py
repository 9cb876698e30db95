"""Taggers, readers of answers and models that guess masked words: explained as the library's own calls answer."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

import pellucid
from pellucid.base.errors import BadInput, BadSetting, InputReading, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.run import traces
from pellucid.run.batch import edit
from pellucid.run.model import lacking
from tests.shared.tiny import TAGS, TOKENIZERS, network_for_pieces, tiny_network

TEXT = "Mona saw a lovely film of Oslo Lima with Tom."
QUESTION, PASSAGE = "Who saw a film?", "Mona saw a lovely film of Oslo. It was dull, said Tom."
FAMILIES = ("bert", "roberta")


def plain(network, family, *texts, **columns):
    """The library's own call of the network with one text or pair."""
    with torch.no_grad():
        return network(**{**TOKENIZERS[family]()(*texts, return_tensors="pt"), **columns})


def question(*pair):
    return pellucid.Example(pair, id="asked")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("strategy", ["none", "simple", "first", "average", "max"])
def test_entities_have_the_scores_of_the_pipeline(family, strategy):
    tagger = network_for_pieces("TokenClassification", family)
    pipeline = transformers.pipeline("ner", model=tagger, tokenizer=TOKENIZERS[family](), aggregation_strategy=strategy)
    entities = pipeline(TEXT)
    results = pellucid.explain(pipeline, TEXT, "gradient_x_input")
    assert len(results) == len(entities) > 1
    for result, entity in zip(results, entities, strict=True):
        assert result.prediction.probability == pytest.approx(float(entity["score"]), abs=1e-5)
        assert result.prediction.label.endswith(entity.get("entity", entity.get("entity_group")))
        place = result.example.meta["answer_place"]
        assert (place[1], place[2]) == (entity["start"], entity["end"])


@pytest.mark.parametrize("tags", [("O", "B-PER", "PER"), ("O", "PER", "LOC"), ("O", "I-PER", "B-PER", "E-PER")])
def test_entities_of_any_scheme_have_the_scores_of_the_pipeline(tags):
    names = {"id2label": dict(enumerate(tags)), "label2id": {tag: number for number, tag in enumerate(tags)}}
    seen = set()
    for seed in range(3):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            config = tiny_network("bert", len(tags), **names).config
            tagger = transformers.AutoModelForTokenClassification.from_config(config).eval()
            torch.nn.init.normal_(tagger.classifier.weight, std=2.0)
        pipeline = transformers.pipeline(
            "ner", model=tagger, tokenizer=TOKENIZERS["bert"](), aggregation_strategy="simple"
        )
        entities, results = (
            pipeline(TEXT),
            pellucid.explain(pellucid.load(tagger, TOKENIZERS["bert"]()), TEXT, "gradient"),
        )
        seen |= {result.prediction.label for result in results}
        ours = [result.prediction.probability for result in results]
        assert ours == pytest.approx([float(entity["score"]) for entity in entities], abs=1e-5)
        assert len(pellucid.explain(pipeline, TEXT, "gradient")) == len(entities)
    assert len(seen) > 1


@pytest.mark.parametrize("family", FAMILIES)
def test_an_entity_of_several_pieces_is_their_mean_probability(family):
    tagger = network_for_pieces("TokenClassification", family, double=True)
    model = pellucid.load(tagger, TOKENIZERS[family]())
    [result] = pellucid.explain(model, TEXT, "gradient_x_input", output="probability", answer="lovely film")
    pieces = [piece for piece, _ in result.example.meta["answer_place"][4]]
    assert len(pieces) > 1
    columns = TOKENIZERS[family]()(TEXT, return_tensors="pt")
    words = tagger.get_input_embeddings()(columns.pop("input_ids")).detach().requires_grad_()
    chances = tagger(inputs_embeds=words, **columns).logits[0].softmax(-1)
    tags = chances[pieces].argmax(-1).tolist()
    exchange = {1: 2, 2: 1, 3: 4, 4: 3}  # B- for I-, and back
    first = TAGS[tags[0]][:2] == "B-"

    def of_tag(tag):  # the first piece's scheme is the entity's
        pairs = zip(pieces, tags, strict=True)
        return [chances[n, tag if (TAGS[own][:2] == "B-") == first else exchange.get(tag, tag)] for n, own in pairs]

    means = torch.stack([torch.stack(of_tag(tag)).mean() for tag in range(len(TAGS))])
    best = int(means.argmax())
    assert result.prediction.label == TAGS[best]
    assert result.target.value == pytest.approx(float(means[best]), abs=1e-6)
    means[best].backward()
    expected = (words.grad * words).sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(result.scores, expected, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_word_that_is_tagged_is_masked_and_others_are_left_out(family):
    tagger = network_for_pieces("TokenClassification", family, double=True)
    tokenizer = TOKENIZERS[family]()
    model = pellucid.load(tagger, tokenizer)
    [result] = pellucid.explain(model, TEXT, "occlusion", answer="of", target="B-LOC", unit="piece")
    (piece,) = (piece for piece, _ in result.example.meta["answer_place"][4])
    columns = tokenizer(TEXT, return_tensors="pt")
    value = lambda **changed: float(plain(tagger, family, TEXT, **changed).logits[0, piece, 3])  # noqa: E731
    for unit in range(1, len(columns["input_ids"][0]) - 1):
        if unit == piece:
            ids = columns["input_ids"].clone()
            ids[0, unit] = tokenizer.mask_token_id
            without = value(input_ids=ids)
        else:
            attended = columns["attention_mask"].clone()
            attended[0, unit] = 0
            without = value(attention_mask=attended)
        assert result.scores[unit] == pytest.approx(value() - without, abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_answer_to_a_question_is_the_likeliest_span(family):
    reader = network_for_pieces("QuestionAnswering", family, double=True)
    tokenizer = TOKENIZERS[family]()
    answer = plain(reader, family, QUESTION, PASSAGE)
    encoded = tokenizer(QUESTION, PASSAGE)
    possible = [
        piece
        for piece, (segment, id_) in enumerate(zip(encoded.sequence_ids(0), encoded["input_ids"], strict=True))
        if segment == 1 or id_ == tokenizer.cls_token_id
    ]
    of_start = dict(zip(possible, answer.start_logits[0, possible].log_softmax(-1).tolist(), strict=True))
    of_end = dict(zip(possible, answer.end_logits[0, possible].log_softmax(-1).tolist(), strict=True))
    inside = [piece for piece in possible if encoded.sequence_ids(0)[piece] == 1]
    pairs = [(first, last) for first in inside for last in inside if 0 <= last - first < 15]
    first, last = max(pairs, key=lambda pair: of_start[pair[0]] + of_end[pair[1]])
    model = pellucid.load(reader, tokenizer)
    values = {
        target: pellucid.explain(model, question(QUESTION, PASSAGE), "occlusion", target=target)[0]
        for target in ("predicted", "start", "end")
    }
    assert values["predicted"].target.value == pytest.approx(of_start[first] + of_end[last], abs=1e-9)
    assert values["start"].target.value == pytest.approx(of_start[first], abs=1e-9)
    assert values["end"].target.value == pytest.approx(of_end[last], abs=1e-9)
    result = values["predicted"]
    assert result.answer in PASSAGE
    assert result.prediction.probability == pytest.approx(np.exp(of_start[first] + of_end[last]), abs=1e-9)
    assert str(result.target) == "log-likelihood of answer"
    named = pellucid.explain(model, question(QUESTION, PASSAGE), "occlusion", answer="Tom")[0]
    assert named.answer == "Tom" and named.target.value < result.target.value


@pytest.mark.parametrize("output", ["logit", "probability"])
@pytest.mark.parametrize(
    ("kind", "text", "labels"),
    [("QuestionAnswering", question(QUESTION, PASSAGE), "all"), ("MaskedLM", "A lovely [MASK].", ["full", "[SEP]"])],
)
def test_several_labels_of_a_place_have_the_values_of_calls_of_their_own(kind, text, labels, output):
    model = pellucid.load(network_for_pieces(kind, "bert", double=True), TOKENIZERS["bert"]())
    named = model.labels if labels == "all" else labels
    together = pellucid.explain(model, text, "gradient_x_input", target=labels, output=output)
    assert {result.target.label for result in together} == {*named} and len(together) == len(named)
    for result in together:
        [alone] = pellucid.explain(model, text, "gradient_x_input", target=result.target.label, output=output)
        assert str(result.target) == str(alone.target)
        assert result.target.value == pytest.approx(alone.target.value, abs=1e-9)
        np.testing.assert_allclose(result.scores, alone.scores, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_masked_word_keeps_its_mask(family):
    guesser = network_for_pieces("MaskedLM", family, double=True)
    tokenizer = TOKENIZERS[family]()
    text = f"A lovely {tokenizer.mask_token} of the sea."
    model = pellucid.load(guesser, tokenizer)
    mask = tokenizer(text)["input_ids"].index(tokenizer.mask_token_id)
    logits = plain(guesser, family, text).logits[0, mask]
    best, second = logits.topk(2).indices.tolist()
    result = pellucid.explain(model, text, "integrated_gradients", target=(best, second))[0]
    assert result.target.value == pytest.approx(float(logits[best] - logits[second]), abs=1e-6)
    assert result.prediction.probability == pytest.approx(float(logits.softmax(-1)[best]), abs=1e-6)
    assert result.prediction.label == model.labels[best]
    assert not any("read" in caveat for caveat in result.caveats)  # the mask is no word that cannot be read
    batch = model.encode([result.example])
    every = range(len(batch.rows[0]))
    for operator in ("absent", "mask", "pad", "delete"):
        assert tokenizer.mask_token_id in edit(batch.rows[0], every, operator, batch.special).ids
    assert mask not in batch.units[0].content
    assert all(batch.units[0].labels[unit].strip() for unit in batch.units[0].content)  # nor the blank before it
    pipeline = transformers.pipeline("fill-mask", model=network_for_pieces("MaskedLM", family), tokenizer=tokenizer)
    own = pipeline(text)[0]
    [prediction] = [result.prediction for result in pellucid.explain(pipeline, text, "gradient")]
    assert prediction.probability == pytest.approx(own["score"], abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("TokenClassification", TEXT),
        ("QuestionAnswering", question(QUESTION, PASSAGE)),
        ("MaskedLM", "A lovely [MASK] of the sea."),
    ],
)
def test_every_method_explains_places(kind, text, tmp_path):
    model = pellucid.load(network_for_pieces(kind, "bert"), TOKENIZERS["bert"]())
    several = pellucid.explain_all(model, text)
    usual = {
        name
        for name in attributions.names()
        if attributions.get(name).facts["usual"] and not lacking(model, attributions.get(name).facts["needs"])
    }
    assert usual == set(several)
    for results in several.values():
        for result in results:
            assert result.diagnostics["parity"] < 1e-5
            assert np.isfinite(result.scores).all()
            assert "for “" in str(result) or kind == "QuestionAnswering"
    pellucid.save(several["occlusion"], tmp_path / "saved.parquet")
    assert list(pellucid.read(tmp_path / "saved.parquet")) == list(several["occlusion"])


def test_many_texts_get_what_each_gets_alone_and_texts_without_entity_are_named():
    tagger = network_for_pieces("TokenClassification", "bert")
    tokenizer = TOKENIZERS["bert"]()
    texts = [TEXT, "A dull film.", "Oslo.", "Tom and Mona saw the sea in Lima, and it was a lovely day."]
    pipeline = transformers.pipeline("ner", model=tagger, tokenizer=tokenizer)
    silent = [text for text in texts if not pipeline(text)]
    everything = {tag for text in texts for tag in (entity["entity"] for entity in pipeline(text))}
    few = transformers.pipeline("ner", model=tagger, tokenizer=tokenizer, ignore_labels=["O", sorted(everything)[0]])
    none = transformers.pipeline("ner", model=tagger, tokenizer=tokenizer, ignore_labels=list(TAGS))
    assert not silent
    with pytest.raises(BadInput, match="finds no entity in 4 of 4 texts"):
        pellucid.explain(none, texts)
    together = pellucid.explain(few, texts, "gradient_x_input")
    alone = [result for text in texts if few(text) for result in pellucid.explain(few, [text], "gradient_x_input")]
    for ours, theirs in zip(together, alone, strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-5)


def test_answers_to_questions_are_judged_by_their_likelihood():
    reader = pellucid.load(network_for_pieces("QuestionAnswering", "bert"), TOKENIZERS["bert"]())
    pairs = [question(QUESTION, PASSAGE), question("Who was dull?", PASSAGE)]
    table = pellucid.compare(reader, pairs, ["occlusion"])
    assert table.cell("occlusion", "comprehensiveness").n == 2
    with pytest.raises(ModelCannot, match="hiding judges explanations of classes"):
        pellucid.compare(reader, pairs, ["occlusion"], ["hiding"])
    tagger = pellucid.load(network_for_pieces("TokenClassification", "bert"), TOKENIZERS["bert"]())
    entities = pellucid.explain(tagger, [TEXT], "occlusion")
    assert len({entity.target.label for entity in entities}) < len(entities)
    assert not any("repeat" in caution for caution in entities.words(min_texts=1).caveats)


def test_entities_of_one_text_share_the_edited_texts():
    tagger = network_for_pieces("TokenClassification", "bert")
    model = pellucid.load(tagger, TOKENIZERS["bert"]())
    entities = pellucid.explain(model, TEXT, "occlusion")  # trials are over
    assert len(entities) > 2
    rows: list[int] = []
    hook = tagger.register_forward_pre_hook(
        lambda _, args, keywords: rows.append(len(keywords["input_ids"])), with_kwargs=True
    )
    alone = pellucid.explain(model, entities[0].example, "occlusion")[0]
    of_one = sum(rows)
    rows.clear()
    together = pellucid.explain(model, [entity.example for entity in entities], "occlusion")
    hook.remove()
    # Each entity's own words are masked in its own edits, and every text is asked once more alone.
    assert sum(rows) < of_one + 4 * len(entities) < len(entities) * of_one
    np.testing.assert_allclose(together[0].scores, alone.scores, atol=1e-6)


class Passes:
    """Counts the rows that a network of BERT's family computes while it is active, and the passes back through it."""

    def __init__(self, network):
        self.network, self.forward, self.back = network, 0, 0

    def __enter__(self):
        first = self.network.bert.encoder.layer[0]
        self.hooks = [
            self.network.register_forward_pre_hook(self._rows, with_kwargs=True),
            first.register_forward_hook(self._state),
        ]
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.remove()

    def _rows(self, _, args, keywords):
        self.forward += len(keywords["input_ids"])

    def _state(self, _, args, output):
        state = output[0] if isinstance(output, tuple) else output
        if state.requires_grad:
            state.register_hook(self._back)

    def _back(self, gradient):
        self.back += len(gradient)


PLACES = {
    "TokenClassification": ([TEXT] * 4, ["Mona", "lovely film", "Oslo", "Tom"]),
    "QuestionAnswering": ([question(QUESTION, PASSAGE)] * 4, ["Mona", "lovely film", "Oslo", "dull"]),
    "MaskedLM": (["A [MASK] film of the [MASK], said [MASK] and [MASK]."], None),
}


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize(
    "method", ["gradient", "gradient_x_input", "integrated_gradients", "relevance", "deep_lift_shap"]
)
def test_places_of_one_text_cost_one_pass_forward_and_one_back_each(kind, method, monkeypatch):
    network = network_for_pieces(kind, "bert")
    model = pellucid.load(network, TOKENIZERS["bert"]())
    texts, answer = PLACES[kind]
    places = [result.example for result in pellucid.explain(model, texts, "gradient", answer=answer)]
    assert len(places) == 4
    alone = [pellucid.explain(model, place, method)[0] for place in places]
    with Passes(network) as of_short_texts:
        in_one_pass = pellucid.explain(model, places, method)
    monkeypatch.setattr(traces, "MOST_PIECES_BACK", 0)  # as of long texts
    with Passes(network) as of_one:
        pellucid.explain(model, places[0], method)
    with Passes(network) as of_all:
        together = pellucid.explain(model, places, method)
    assert of_all.forward <= 1.15 * of_one.forward
    assert of_all.back == 4 * of_one.back > 0
    assert of_short_texts.back in (of_one.back, of_all.back)  # a pass back of several gradients is seen once
    for ours, same, theirs in zip(together, in_one_pass, alone, strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-5)
        np.testing.assert_allclose(same.scores, theirs.scores, atol=1e-5)


def test_texts_with_few_places_pay_for_no_more(monkeypatch):
    monkeypatch.setattr(traces, "MOST_PIECES_BACK", 0)  # hooks see a pass back of several gradients once
    network = network_for_pieces("TokenClassification", "bert")
    model = pellucid.load(network, TOKENIZERS["bert"]())
    answers = [("Mona saw Tom", ["Mona", "saw", "Tom"]), ("Oslo and Lima", ["Oslo"]), ("A dull film", ["A", "film"])]
    texts, words = zip(*[(text, word) for text, words in answers for word in words], strict=True)
    places = [result.example for result in pellucid.explain(model, list(texts), "gradient", answer=list(words))]
    with Passes(network) as passes:
        pellucid.explain(model, places, "gradient")
    assert passes.back == len(places)
    assert passes.forward == 2 * len(answers)  # ours, and the guard's own call


class OwnTagger(torch.nn.Module):
    """A tagger that has nothing of the library's but its configuration."""

    def __init__(self, tags=TAGS, returns=lambda logits: logits):
        super().__init__()
        self.config = transformers.PretrainedConfig(id2label=dict(enumerate(tags)), num_labels=len(tags))
        self.table, self.reader = torch.nn.Embedding(4000, 8), torch.nn.GRU(8, 6, batch_first=True, bidirectional=True)
        self.head, self.returns = torch.nn.Linear(12, len(TAGS)), returns

    def get_input_embeddings(self):
        return self.table

    def forward(self, input_ids):
        return self.returns(self.head(self.reader(self.table(input_ids))[0]))


class OwnBert(transformers.BertPreTrainedModel):
    """A tagger of a class of the user's own, on an encoder of the library."""

    def __init__(self, config):
        super().__init__(config)
        self.bert, self.head = transformers.BertModel(config), torch.nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        states = self.bert(input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)[0]
        return {"logits": self.head(states)}


def own_taggers():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        library = network_for_pieces("TokenClassification", "bert").config
        return [OwnTagger(), OwnTagger(returns=lambda logits: (logits, None)), OwnBert(library)]


@pytest.mark.parametrize("network", own_taggers(), ids=("plain", "tuple", "bert"))
def test_any_network_with_logits_of_each_token_is_a_tagger(network):
    network, tokenizer = network.double().eval(), TOKENIZERS["bert"]()
    model = pellucid.load(network, tokenizer)
    ids = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    [result] = pellucid.explain(model, TEXT, "gradient_x_input", answer="film", target="I-LOC")
    ((piece, _),) = result.example.meta["answer_place"][4]

    def tag_logits(ids):
        answer = network(ids)
        return (answer["logits"] if isinstance(answer, dict) else answer[0] if isinstance(answer, tuple) else answer)[0]

    seen = []
    hook = network.get_input_embeddings().register_forward_hook(
        lambda _, __, output: seen.append(output.detach().requires_grad_()) or seen[-1]
    )
    value = tag_logits(ids)[piece, TAGS.index("I-LOC")]
    hook.remove()
    (gradient,) = torch.autograd.grad(value, seen[0])
    assert result.target.value == pytest.approx(float(value), abs=1e-6)
    np.testing.assert_allclose(result.scores, (gradient * seen[0]).sum(-1)[0].detach(), atol=1e-6)
    assert result.prediction.label == TAGS[int(tag_logits(ids)[piece].argmax())]
    # Words taken out by hand; the one that is tagged is masked.
    [result] = pellucid.explain(model, TEXT, "occlusion", answer="film", target="I-LOC", unit="piece", operator="mask")
    for unit in range(1, ids.shape[1] - 1):
        masked = ids.clone()
        masked[0, unit] = tokenizer.mask_token_id
        without = tag_logits(masked)[piece, TAGS.index("I-LOC")]
        assert result.scores[unit] == pytest.approx(float(value - without), abs=1e-6)


def test_a_network_whose_numbers_are_of_no_token_is_refused():
    tokenizer = TOKENIZERS["bert"]()
    with pytest.raises(ModelCannot, match=r"of shape \(1, 6, 5\) for a text of 6 pieces, and its config names 3"):
        pellucid.load(OwnTagger(TAGS[:3]), tokenizer)
    with pytest.raises(ModelCannot, match=r"what tags pieces gives \(1, 6, 5\)"):
        pellucid.load(OwnTagger(returns=lambda logits: logits[:, 1:]), tokenizer)
    own = OwnTagger()
    network = pellucid.from_network(
        own, tokenize=lambda text: [(1, 0, 1), (2, 1, 2)], logits=lambda ids, attended: own(ids), labels=TAGS
    )
    with pytest.raises(ModelCannot, match=r"tags tokens is explained with its tokenizer: pellucid.load\(network"):
        pellucid.explain(network, "film")


def test_what_is_no_question_gets_a_sentence():
    tokenizer = TOKENIZERS["bert"]()
    tagger = pellucid.load(network_for_pieces("TokenClassification", "bert"), tokenizer)
    reader = pellucid.load(network_for_pieces("QuestionAnswering", "bert"), tokenizer)
    guesser = pellucid.load(network_for_pieces("MaskedLM", "bert"), tokenizer)
    refused = [
        (lambda: pellucid.explain(guesser, "A lovely film."), BadInput, r"has no \[MASK\]"),
        (lambda: pellucid.explain(guesser, "A [MASK] film.", answer="film"), BadInput, "leave answer= away"),
        (lambda: pellucid.explain(reader, PASSAGE), BadInput, r"give pairs: \(question, passage\)"),
        (lambda: pellucid.explain(reader, question(QUESTION, PASSAGE), answer="Bergen"), BadInput, "stands not in"),
        (lambda: pellucid.explain(reader, question(QUESTION, PASSAGE), target="gold"), BadInput, "answer='…' names it"),
        (
            lambda: pellucid.explain(
                reader, replace(question(QUESTION, PASSAGE), label="Mona"), "occlusion", target="gold"
            ),
            BadInput,
            "the gold answer of example 'asked' is a part of its text",
        ),
        (lambda: pellucid.explain(tagger, "a film, a film", answer="film"), BadInput, "stands 2 times in"),
        (lambda: pellucid.explain(tagger, question("A film.", "A sea.")), BadInput, "give one text"),
        (lambda: pellucid.explain(tagger, "film " * 600, answer="film film"), BadInput, "stands 599 times|pieces"),
        (lambda: tagger.predict("A film."), BadInput, "asks about none"),
        (lambda: pellucid.attack(tagger, ["A film."]), ModelCannot, "answers for places in a text"),
        (lambda: pellucid.load(tagger.network, tokenizer, problem="multi_label"), BadSetting, "leave it away"),
    ]
    for call, error, sentence in refused:
        with pytest.raises(error, match=sentence):
            call()
    [result] = pellucid.explain(tagger, TEXT, "gradient", answer="film")
    other_text = replace(result.example, segments=("Another film.",))
    with pytest.raises(BadInput, match="in another text than the one that it has now"):
        pellucid.explain(tagger, other_text, "gradient")
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputReading)  # a tuple can only be a pair here
        assert len(pellucid.explain(reader, (QUESTION, PASSAGE), "gradient")) == 1


@pytest.mark.parametrize("kind", ["TokenClassification", "QuestionAnswering", "MaskedLM"])
def test_folders_are_loaded(kind, tmp_path):
    network = network_for_pieces(kind, "bert")
    network.save_pretrained(tmp_path)
    TOKENIZERS["bert"]().save_pretrained(tmp_path)
    loaded, own = pellucid.load(tmp_path), pellucid.load(network, TOKENIZERS["bert"]())
    assert loaded.labels == own.labels and loaded.problem == own.problem
    example = question(QUESTION, PASSAGE) if kind == "QuestionAnswering" else "A [MASK] film of Oslo."
    first, second = (pellucid.explain(model, example, "gradient")[0] for model in (loaded, own))
    np.testing.assert_array_equal(first.scores, second.scores)
