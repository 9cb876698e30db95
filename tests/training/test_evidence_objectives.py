"""Objectives about spans: what they are by a loop, what their draws teach, and where they are refused."""

import itertools
import json
import math

import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, UnknownName
from pellucid.models.composed.networks import Plan
from pellucid.run.batch import edit
from pellucid.run.trace import SpanTrace
from pellucid.text.example import Example, Rationale
from pellucid.training.checkpoint import best_epoch
from pellucid.training.cut_texts import TextDraws, answer_divergence, log_answers, undecided_answer
from pellucid.training.drawn_spans import drawn_spans, reinforced_costs
from pellucid.training.loop import check_beginnings, settled_in
from pellucid.training.objective import ObjectiveContext, StepPart, objectives_of
from pellucid.training.objectives.evidence_labels import OwnAttributions
from pellucid.training.recipe import Recipe
from tests.reference import evidence_objectives as reference
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import trained

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.")
EXAMPLES = [
    Example((TEXTS[0],), label="positive"),
    Example((TEXTS[1],), label="positive", rationales=(Rationale(0, 2, 18),)),  # gripping, lovely
    Example((TEXTS[2],), label="negative", rationales=(Rationale(0, 0, 4), Rationale(0, 35, 44))),
]


@pytest.fixture(scope="module")
def classifier():
    model = tiny_composed("span")
    model.network.double()
    return model


def objective_of(classifier, name, examples=EXAMPLES, seed=0, **settings):
    recipe = Recipe(precision="float32", objectives={name: 1.0}, objective_settings={name: settings}, seed=seed)
    [(_, objective)] = objectives_of(ObjectiveContext(classifier, classifier.encode(examples), recipe))
    return objective


def part_of(classifier, examples=EXAMPLES, done=3):
    output = classifier.network(**classifier.place(classifier.encode(examples).rows))
    return StepPart(list(range(len(examples))), output, done)


def weights_of(trace, number):
    """{(first, last): weight} of one text."""
    scores = trace.scores[number]
    spans = (scores > -torch.inf).nonzero().tolist()
    return {(i, j): float(trace.weights[number, i, j].detach()) for i, j in spans}


def reader(classifier, number):
    """A function from units of a text to the answer to these alone."""
    batch = classifier.encode(EXAMPLES)
    pieces = batch.pieces_of(number, "word")

    def read(units):
        removed = [piece for unit, own in enumerate(pieces) if unit not in units for piece in own]
        row = edit(batch.rows[number], removed, "absent", batch.special)
        return classifier.trace([row]).logits[0].detach().softmax(-1).tolist()

    return read, len(pieces)


@pytest.mark.parametrize("n_spans", (1, 2))
def test_read_alone_is_the_mean_divergence_of_two_draws(classifier, n_spans):
    objective, part = objective_of(classifier, "read_alone", n_spans=n_spans), part_of(classifier)
    points = objective.draws.points(classifier.encode(EXAMPLES).rows, 3, 2 * n_spans)
    for number, value in enumerate(objective.losses(part).tolist()):
        weights, whole = weights_of(part.output.spans, number), part.output.logits[number].detach()
        draws = [points[number, :n_spans].tolist(), points[number, n_spans:].tolist()]
        read, _ = reader(classifier, number)
        expected = reference.read_alone(weights, draws, whole.softmax(-1).tolist(), read)
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_answer_by_all_spans_is_the_loss_of_all_spans_though_the_answer_uses_two():
    model = tiny_composed("span", n_heaviest=2, max_width=3)
    model.network.double()
    pooler, batch = model.network.pooler, model.encode(EXAMPLES)
    objective, part = objective_of(model, "answer_by_all_spans"), part_of(model)
    losses = objective.losses(part)
    assert pooler.n_heaviest == 2  # as before

    def head(pooled):
        return model.network.head(torch.tensor(pooled, dtype=torch.double)).softmax(-1).tolist()

    for number, value in enumerate(losses.tolist()):
        inputs = model.place([batch.rows[number]])
        vectors_of = pooler.vectors(model.network.states(inputs["pieces"]), inputs["pieces"])
        units = len(batch.pieces_of(number, "word"))
        spans = [(i, j) for i in range(units) for j in range(i, min(units, i + 3))]
        vectors = {span: vectors_of(torch.tensor(span[:1]), torch.tensor(span[1:]))[0].tolist() for span in spans}
        label = model.labels.index(EXAMPLES[number].label)
        expected = reference.answer_by_all_spans(vectors, pooler.score_vector.tolist(), head, label)
        assert value == pytest.approx(expected, rel=1e-6)
    plain = model.network(**model.place(batch.rows)).logits.log_softmax(-1)
    assert float(losses[2].detach()) != pytest.approx(
        -float(plain[2, model.labels.index("negative")].detach()), rel=1e-6
    )


@pytest.mark.parametrize("undecided", ("uniform", "priors"))
def test_leave_out_is_the_divergence_from_an_undecided_answer(classifier, undecided):
    objective, part = (
        objective_of(classifier, "leave_out", undecided=undecided, n_spans=2),
        part_of(classifier),
    )
    points = objective.draws.points(classifier.encode(EXAMPLES).rows, 3, 2)
    answer = [1 / 3] * 3 if undecided == "uniform" else [2 / 6, 1 / 6, 3 / 6]  # of 1, 0 and 2 texts, each once more
    for number, value in enumerate(objective.losses(part).tolist()):
        read, units = reader(classifier, number)
        weights = weights_of(part.output.spans, number)
        expected = reference.leave_out(weights, points[number].tolist(), answer, units, read)
        assert value == pytest.approx(expected, rel=1e-6)


def test_same_spans_is_the_divergence_of_two_readings_and_hides_no_word_of_the_heaviest_span(classifier):
    objective, part = objective_of(classifier, "same_spans", hidden=0.5), part_of(classifier)
    trace, batch = part.output.spans, classifier.encode(EXAMPLES)
    again = [one.row for one in objective.second_readings([0, 1, 2], trace, 3)]
    second = classifier.network(**classifier.place(again)).spans
    for number, value in enumerate(objective.losses(part).tolist()):
        one, other = weights_of(trace, number), weights_of(second, number)
        assert value == pytest.approx(reference.same_spans(one, other), rel=1e-6, abs=1e-12)
        pieces = batch.pieces_of(number, "word")
        hidden = {
            unit
            for unit, own in enumerate(pieces)
            if any(again[number].ids[piece] != batch.rows[number].ids[piece] for piece in own)
        }
        i, j = max(one, key=one.get)
        outside = set(range(len(pieces))) - set(range(i, j + 1))
        assert hidden <= outside and len(hidden) == min(len(outside), max(1, round(0.5 * len(pieces))))
    assert objective_of(classifier, "same_spans", hidden=0.0).losses(part).abs().max() < 1e-12


def heaviest_of(trace, number):
    weights = weights_of(trace, number)
    return max(weights, key=weights.get)


def test_same_spans_in_a_window_compares_the_spans_that_both_readings_have(classifier):
    """The window has the heaviest span, and its spans' weights are counted as shares of their sum."""
    objective, part = (
        objective_of(classifier, "same_spans", reading="window", hidden=0.5),
        part_of(classifier),
    )
    trace = part.output.spans
    again = objective.second_readings([0, 1, 2], trace, 3)
    second = classifier.network(**classifier.place([one.row for one in again])).spans
    sizes = second.parts
    for number, value in enumerate(objective.losses(part).tolist()):
        first, last = again[number].first, again[number].first + sizes[number] - 1
        i, j = heaviest_of(trace, number)
        assert first <= i and j <= last
        parts = trace.parts[number]
        assert sizes[number] == max(j + 1 - i, parts - max(1, round(0.5 * parts)))  # of one word: that word
        one = {
            (i - first, j - first): weight
            for (i, j), weight in weights_of(trace, number).items()
            if first <= i and j <= last
        }
        shares = {span: weight / sum(one.values()) for span, weight in one.items()}
        expected = reference.same_spans(shares, weights_of(second, number))
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-12)
    drawn = {
        objective.second_readings([2], part_of(classifier, EXAMPLES[2:]).output.spans, done)[0].first
        for done in range(40)
    }
    i, j = heaviest_of(trace, 2)
    places = range(max(0, j + 1 - sizes[2]), min(i, trace.parts[2] - sizes[2]) + 1)
    assert drawn == {*places}


@pytest.mark.parametrize("unit", ("word", "piece"))
def test_same_spans_by_synonyms_exchanges_words_outside_the_heaviest_span(unit):
    """Part for part as long as before; the real WordNet."""
    classifier = tiny_composed("span", unit=unit)
    classifier.network.double()
    objective = objective_of(classifier, "same_spans", reading="synonyms", hidden=0.4)
    batch, trace = classifier.encode(EXAMPLES), part_of(classifier).output.spans
    [_, film, dull] = (one.row for one in objective.second_readings([0, 1, 2], trace, 3))
    assert film != batch.rows[1] or dull != batch.rows[2]
    for number, row in ((1, film), (2, dull)):
        pieces = batch.pieces_of(number, unit)
        i, j = heaviest_of(trace, number)
        own = [batch.rows[number].ids[piece] for part in range(i, j + 1) for piece in pieces[part]]
        assert any(list(row.ids[at : at + len(own)]) == own for at in range(len(row)))
    assert bool((objective.losses(part_of(classifier)) > -1e-12).all())  # rounding


@pytest.mark.parametrize("reading", ("hidden", "synonyms", "window"))
def test_two_readings_that_choose_wholly_other_spans_differ_by_log_2_at_most(reading):
    """The second one's heaviest span need not be the first one's; loss and gradients are numbers all the same."""
    classifier = tiny_composed("span", n_heaviest=1)
    classifier.network.double()
    objective = objective_of(classifier, "same_spans", reading=reading, hidden=0.6)
    seen = []
    for done in range(12):
        losses = objective.losses(part_of(classifier, done=done))
        losses.sum().backward()
        seen += losses.tolist()
    assert all(-1e-12 < loss < math.log(2) + 1e-12 for loss in seen)
    assert all(bool(each.grad.isfinite().all()) for each in classifier.network.parameters() if each.grad is not None)
    if reading == "hidden":
        assert max(seen) > 0.69  # some choose wholly other ones


def test_an_unknown_reading_is_refused(classifier):
    with pytest.raises(BadSetting, match=r"reading='shouted'.*hidden.*synonyms.*window"):
        objective_of(classifier, "same_spans", reading="shouted")


@pytest.mark.parametrize("method", ("attention_gradient", "relevance"))
@pytest.mark.parametrize("n_spans", (1, 2, 9))
def test_attributed_is_the_log_of_the_weight_on_the_highest_spans(classifier, method, n_spans):
    objective = objective_of(classifier, "attributed", method=method, n_spans=n_spans)
    values = objective.losses(part := part_of(classifier)).tolist()
    for number, explanation in enumerate(pellucid.explain(classifier, EXAMPLES, method)):
        words = explanation.view("word")
        scores = [float(score) for score, special in zip(words.scores, words.special, strict=True) if not special]
        expected = reference.attributed(weights_of(part.output.spans, number), scores, n_spans)
        assert values[number] == pytest.approx(expected, rel=1e-6)


def test_attributions_are_those_of_the_model_without_dropout_and_leave_it_as_it_was(classifier):
    attributions = OwnAttributions(
        ObjectiveContext(classifier, classifier.encode(EXAMPLES), Recipe()), "attention_gradient"
    )
    still = attributions.of_parts([0, 1, 2], "word", 16)
    classifier.network.train()
    try:
        assert torch.equal(attributions.of_parts([0, 1, 2], "word", 16), still)
        assert classifier.network.training
    finally:
        classifier.network.eval()
    assert all(parameter.grad is None for parameter in classifier.network.parameters())


@pytest.mark.parametrize("spans", ("inside", "overlapping"))
def test_marked_is_the_log_of_the_weight_on_marked_spans(classifier, spans):
    values = objective_of(classifier, "marked", spans=spans).losses(part := part_of(classifier)).tolist()
    units = [set(), {1, 2, 3}, {0, 9, 10}]  # gripping, lovely; Dull; worth the
    for number, marks in enumerate(units):
        expected = reference.marked(weights_of(part.output.spans, number), marks, spans == "inside")
        assert values[number] == pytest.approx(expected, rel=1e-6)


def test_marks_teach_the_weights_of_all_spans_also_where_the_answer_uses_one(classifier):
    """So a text whose heaviest span lies outside the marks teaches too."""
    few = tiny_composed("span", n_heaviest=1)  # the same numbers otherwise
    few.network.double()
    expected = objective_of(classifier, "marked").losses(part_of(classifier))
    values = objective_of(few, "marked").losses(part_of(few))
    assert values[1] > 0 and values[2] > 0
    torch.testing.assert_close(values, expected)


def test_fewer_marked_texts_are_some_of_more_and_the_others_cost_nothing(classifier):
    full = objective_of(classifier, "marked")
    one = objective_of(classifier, "marked", n_marked=1)
    assert len(one.learnt) == 1 and one.learnt < full.learnt == {1, 2}
    values = one.losses(part_of(classifier))
    assert [number for number, value in enumerate(values.tolist()) if value] == list(one.learnt)
    assert {next(iter(objective_of(classifier, "marked", n_marked=1, seed=seed).learnt)) for seed in range(8)} == {1, 2}


@pytest.mark.parametrize(
    "name, settings",
    [
        ("same_spans", {}),
        ("marked", {}),
        ("marked", {"n_heaviest": 1}),
        ("answer_by_all_spans", {"n_heaviest": 2}),
        ("attributed", {}),
        ("attributed", {"n_heaviest": 2}),
    ],
    ids=str,
)
def test_gradients_are_those_of_finite_differences(name, settings):
    """Of losses without a draw; at a weight of the pooler and one of the encoder."""
    classifier = tiny_composed("span", **settings)
    classifier.network.double()
    objective = objective_of(classifier, name)
    parameters = dict(classifier.network.named_parameters())
    moved = [parameters["pooler.start.weight"], parameters["encoder.embeddings.word_embeddings.weight"]]
    objective.losses(part_of(classifier)).sum().backward()
    for parameter in moved:
        place = divmod(int(parameter.grad.abs().argmax()), parameter.shape[1])
        values = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                parameter[place] += step
                values.append(float(objective.losses(part_of(classifier)).sum()))
                parameter[place] -= step
        assert (values[0] - values[1]) / 2e-5 == pytest.approx(float(parameter.grad[place]), rel=1e-4)


def test_draws_teach_the_gradient_of_the_expected_cost():
    """All pairs of draws, each as often as it is likely: their gradients add up to p (cost - expected cost)."""
    scores = torch.tensor([0.2, -0.7, 1.1], dtype=torch.float64, requires_grad=True)
    chances, costs = scores.softmax(0), torch.tensor([0.3, 1.4, 0.6], dtype=torch.float64)
    pairs, alone = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for pair in itertools.product(range(3), repeat=2):
        index = torch.tensor(pair)
        losses = reinforced_costs(costs[index], costs[index].flip(0), chances.log()[index])
        pairs = pairs + chances[index].prod().detach() * losses.mean()
    for number in range(3):
        alone = alone + chances[number].detach() * reinforced_costs(
            costs[number], torch.tensor(0.8), chances.log()[number]
        )
    expected = reference.reinforced_gradient(chances.tolist(), costs.tolist())
    for total in (pairs, alone):
        [gradient] = torch.autograd.grad(total, scores, retain_graph=True)
        assert gradient.tolist() == pytest.approx(expected, rel=1e-9)
        assert float(total.detach()) == pytest.approx(float(chances.detach() @ costs))


def test_a_step_moves_weight_to_the_spans_that_cost_less():
    scores = torch.tensor([0.2, -0.7, 1.1], requires_grad=True)
    costs = torch.tensor([0.3, 1.4, 0.6])
    for number in range(3):
        chances = scores.softmax(0)
        [gradient] = torch.autograd.grad(
            reinforced_costs(costs[number], torch.tensor(0.8), chances.log()[number]), scores
        )
        after = (scores - 0.1 * gradient).softmax(0)
        assert bool(after[number] > chances[number]) == bool(costs[number] < 0.8)


def test_spans_are_drawn_as_often_as_they_weigh_and_no_other_is():
    scores = torch.tensor([[[0.0, 1.0], [-torch.inf, 0.5]]])
    trace = SpanTrace(scores, scores.flatten(1).logsumexp(1), (2,), "word", None)
    draws = TextDraws("read_alone", 0)
    row = tiny_composed("span").encode(EXAMPLES).rows[1]
    points = draws.points([row], 0, 4000)
    counts: dict[frozenset, int] = {}
    for point in points[0]:
        [parts] = drawn_spans(trace, point[None, None]).parts
        counts[parts] = counts.get(parts, 0) + 1
    for (i, j), weight in {
        (0, 0): trace.weights[0, 0, 0],
        (0, 1): trace.weights[0, 0, 1],
        (1, 1): trace.weights[0, 1, 1],
    }.items():
        assert counts[frozenset(range(i, j + 1))] / 4000 == pytest.approx(float(weight), abs=0.03)
    drawn = drawn_spans(trace, points[:, :2])
    expected = [trace.weights[0].flatten()[int(number)].log() for number in _numbers(trace, points[0, :2])]
    assert float(drawn.log_chance[0]) == pytest.approx(float(sum(expected)), abs=1e-6)


def _numbers(trace, points):
    weights = {(0, 0): 0, (0, 1): 1, (1, 1): 3}
    own = {span: float(trace.weights[0].flatten()[number]) for span, number in weights.items()}
    return [weights[reference.draw(own, float(point))] for point in points]


def test_a_share_of_the_texts_costs_the_same_in_the_mean(classifier):
    rows = classifier.encode(EXAMPLES).rows
    draws = TextDraws("leave_out", 0, 0.25)
    counts = [len(draws.sampled(rows, done)) for done in range(800)]
    assert sum(counts) / (800 * len(rows)) == pytest.approx(0.25, abs=0.03)
    spread = draws.for_examples(torch.tensor([2.0]), [1], 3)
    assert spread.tolist() == [0, 8, 0]
    assert objective_of(classifier, "leave_out", share=0.01).losses(part_of(classifier)).tolist() == [0, 0, 0]


def test_answers_of_several_labels_are_compared_label_by_label():
    logits, others = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.0, 0.5]])
    chances, rivals = logits.sigmoid()[0].tolist(), others.sigmoid()[0].tolist()
    expected = sum(reference.divergence([p, 1 - p], [q, 1 - q]) for p, q in zip(chances, rivals, strict=True))
    value = answer_divergence(log_answers(logits, "multi_label"), log_answers(others, "multi_label"))
    assert float(value) == pytest.approx(expected, rel=1e-5)
    examples = [Example(("a",), label="x, y"), Example(("b",), label="x")]
    undecided = undecided_answer("priors", examples, ("x", "y"), "multi_label").exp()
    torch.testing.assert_close(undecided[0, :, 1], torch.tensor([3 / 4, 2 / 4]))
    assert undecided_answer("uniform", examples, ("x", "y"), "multi_label").exp().unique().tolist() == [0.5]


@pytest.mark.parametrize("name", ("read_alone", "leave_out", "same_spans", "attributed"))
def test_they_work_with_several_labels(name):
    model = tiny_composed("span", problem="multi_label")
    values = objective_of(model, name).losses(part_of(model))
    assert values.isfinite().all() and (values > -1e-6).all()


def test_a_method_that_does_not_exist_or_does_not_work_is_refused(classifier):
    with pytest.raises(UnknownName, match="Did you mean 'attention_gradient'"):
        objective_of(classifier, "attributed", method="attention_gradients")
    with pytest.raises(ModelCannot, match="rationale does not work with"):
        objective_of(classifier, "attributed", method="rationale")


def test_what_cannot_be_is_refused(classifier, encoder, tmp_path):
    unmarked = [Example(one.segments, label=one.label) for one in EXAMPLES]
    with pytest.raises(BadInput, match="The objective marked learns from the words that people marked, and no train"):
        objective_of(classifier, "marked", examples=unmarked)
    for name, settings, words in (
        ("read_alone", {"n_spans": 0}, "n_spans=0 is too small"),
        ("leave_out", {"share": 0}, "share=0 is out of range"),
        ("leave_out", {"undecided": "no"}, "undecided='no' is not possible"),
        ("same_spans", {"hidden": 1}, "hidden=1 is out of range"),
        ("attributed", {"n_spans": 0}, "n_spans=0 is too small"),
        ("attributed", {"method": "span_attention"}, "does not score the pieces"),
        ("marked", {"n_marked": 0}, "n_marked=0 is too small"),
        ("marked", {"spans": "near"}, "spans='near' is not possible"),
    ):
        with pytest.raises(BadSetting, match=words):
            objective_of(classifier, name, **settings)
    with pytest.raises(BadSetting, match="reads span weights, which pooler='additive' does not have"):
        trained(encoder, tmp_path, pooler="additive", objectives={"read_alone": 1.0})


def test_a_text_without_spans_costs_nothing(classifier):
    """All of its words are special tokens' neighbours: a text in which the pooler finds no unit."""
    part = part_of(classifier)
    spans = part.output.spans
    empty = SpanTrace(
        torch.full_like(spans.scores, -torch.inf),
        torch.full_like(spans.log_normaliser, -torch.inf),
        spans.parts,
        "word",
        None,
    )
    nothing = StepPart(
        part.indices, type(part.output)(logits=part.output.logits, states=part.output.states, spans=empty), 3
    )
    for name in ("read_alone", "leave_out", "same_spans", "marked"):
        assert objective_of(classifier, name).losses(nothing).tolist() == [0, 0, 0], name
    assert math.isfinite(float(part.output.logits.detach().sum()))


def test_before_their_share_of_the_steps_objectives_change_nothing(encoder, tmp_path):
    def epochs(name, **changes):
        trained(encoder, tmp_path / name, penalties={}, **changes)
        lines = (tmp_path / name / "metrics.jsonl").read_text().splitlines()
        return [json.loads(line)["dev_loss"] for line in lines]

    both = {"objectives": {"read_alone": 1.0, "leave_out": 0.5}}
    without, late = epochs("without"), epochs("late", **both, objectives_from=2 / 3)
    assert late[:2] == without[:2] and late[2] != without[2]
    assert epochs("first", **both)[0] != without[0]


def test_until_weights_become_sharp_training_is_one_without_penalties_that_uses_all_spans(encoder, tmp_path):
    settings = {"penalties": {"entropy": 1.0}, "pooler_settings": {"n_heaviest": 1}, "sharp_from": 1 / 3}
    trained(encoder, tmp_path / "late", **settings)
    plain = trained(encoder, tmp_path / "plain", penalties={})
    lines = [
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("late", "plain")
    ]
    assert [line["settled"] for line in lines[0]] == [0, 1, 1]
    assert lines[0][0]["train_loss"] == lines[1][0]["train_loss"]
    assert lines[0][1]["train_loss"] != lines[1][1]["train_loss"]
    assert plain.network.pooler.n_heaviest is None


def test_sharpness_without_anything_that_makes_sharp_is_refused():
    plan = Plan("tiny", "span", {}, ("negative", "positive"))
    with pytest.raises(BadSetting, match=r"sharp_from=0\.5 would change nothing"):
        check_beginnings(Recipe(sharp_from=0.5), plan)
    check_beginnings(Recipe(sharp_from=0.5, penalties={"entropy": 0.1}), plan)


def test_an_epoch_without_what_is_learnt_later_is_never_the_best():
    both = {"objectives": {"read_alone": 1.0}, "objectives_from": 0.5}
    settled = [settled_in(Recipe(epochs=3, **both), epoch)["settled"] for epoch in range(3)]
    assert settled == [0, 0, 1]
    assert [settled_in(Recipe(epochs=4, spans=2.0), epoch)["settled"] for epoch in range(4)] == [0, 0, 1, 1]
    assert settled_in(Recipe(epochs=1, spans=2.0), 0) == {"settled": 1}
    assert settled_in(Recipe(objectives={"read_alone": 1.0}), 0) == {} == settled_in(Recipe(), 0)
    accuracies = (0.9, 0.8, 0.85)
    history = [
        {"dev_accuracy": accuracy, "dev_loss": 0.5, "settled": of}
        for accuracy, of in zip(accuracies, (0.0, 1.0, 1.0), strict=True)
    ]
    assert best_epoch(history) == 2 and best_epoch(history[:1]) == 0


def test_what_stands_in_place_of_the_labels_cannot_begin_later():
    plan = Plan("tiny", "additive", {}, ("negative", "positive"))
    recipe = Recipe(
        objectives={"imitation": 1.0}, objective_settings={"imitation": {"model": "m"}}, objectives_from=0.5
    )
    with pytest.raises(BadSetting, match=r"objectives_from=0\.5 would leave the first steps without anything"):
        check_beginnings(recipe, plan)
