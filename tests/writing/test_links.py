"""Links of words: counted literally, read from files, and right where the truth is planted."""

import random

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.data.built_in import WORDS, _made_up, planted_translation
from pellucid.text.example import Example
from pellucid.writing.links import link_scores_of, linked_words, parsed_links


def literal(scores, links):
    """(precision, error rate, rank, diagonal, chance, chance rank), one target word at a time."""
    words = right = ranks = diagonal = chance = chance_ranks = sure = 0
    for table, own in zip(scores, links, strict=True):
        sure += len(own)
        for target, row in enumerate(table):
            linked = {source for source, word in own if word == target}
            if not linked:
                continue
            words += 1
            best = max(range(len(row)), key=lambda source, row=row: (row[source], -source))
            right += best in linked
            order = sorted(range(len(row)), key=lambda source, row=row: -row[source])
            ranks += min(1 + order.index(source) for source in linked)
            diagonal += round(target * (len(row) - 1) / max(1, len(table) - 1)) in linked
            chance += len(linked) / len(row)
            draws = [min(random.Random(n).sample(range(1, len(row) + 1), len(linked))) for n in range(4000)]
            chance_ranks += sum(draws) / len(draws)
    return (
        right / words,
        1 - 2 * right / (words + sure),
        ranks / words,
        diagonal / words,
        chance / words,
        chance_ranks / words,
    )


def test_scores_are_counted_as_written_out():
    generator = np.random.default_rng(0)
    scores = [generator.normal(size=shape) for shape in ((4, 5), (2, 3), (6, 2))]
    links = [frozenset({(0, 1), (4, 1), (2, 3)}), frozenset({(1, 0)}), frozenset({(0, 0), (1, 5)})]
    measured = link_scores_of(scores, links)
    precision, error, rank, diagonal, chance, chance_rank = literal(scores, links)
    assert measured.precision.mean == pytest.approx(precision)
    assert (measured.error_rate, measured.rank) == pytest.approx((error, rank))
    assert (measured.diagonal, measured.chance) == pytest.approx((diagonal, chance))
    assert measured.chance_rank == pytest.approx(chance_rank, abs=0.05)
    assert (measured.words, measured.pairs) == (5, 3)


def test_true_scores_are_perfect_and_equal_ones_share_their_ranks():
    links = [parsed_links(example.meta["links"], 99, 99, "here") for example in planted_translation("dev")[:20]]
    tables = []
    for example, own in zip(planted_translation("dev")[:20], links, strict=True):
        source, target = (len(text.split()) for text in example.segments)
        table = np.zeros((target, source))
        for link in own:
            table[link[1], link[0]] = 1
        tables.append(table)
    perfect = link_scores_of(tables, links)
    assert (perfect.precision.mean, perfect.rank, perfect.error_rate) == (1, 1, 0)
    equal = link_scores_of([np.zeros_like(table) for table in tables], links)
    assert equal.rank == pytest.approx(equal.chance_rank)


def test_links_of_the_planted_translation_join_words_with_their_translations():
    for example in planted_translation("test"):
        source, target = (text.split() for text in example.segments)
        links = parsed_links(example.meta["links"], len(source), len(target), "here")
        assert {word for _, word in links} == set(range(len(target)))
        for one, other in links:
            assert target[other] in _made_up(source[one])
    whole = [word for word in WORDS for word in _made_up(word)]
    assert len(whole) == len(set(whole))


def test_units_become_the_words_between_blanks(learnt):
    pair = Example(("a dog-tired man, asleep", "ein Mann, müde"))
    explanation = pellucid.explain(learnt, pair, "span_attention")[0]
    table = linked_words(explanation)
    assert table.shape == (3, 4)
    np.testing.assert_allclose(table.sum(1), 1, atol=1e-5)
    both = explanation.row("2 Mann").words().scores + explanation.row("3 ,").words().scores
    assert table[1].sum() == pytest.approx(both.sum() / 2, abs=1e-5)


def test_a_file_of_links_and_what_does_not_fit(learnt, tmp_path):
    pairs = [Example(("a dog runs", "ein Hund rennt")), Example(("a cat", "eine Katze"))]
    explanations = pellucid.explain(learnt, pairs, "span_attention")
    (tmp_path / "links.txt").write_text("0-0 1-1 2-2\n0-0 1-1\n")
    scores = pellucid.link_scores(explanations, tmp_path / "links.txt")
    assert scores.words == 5 and "5 linked words of 2 pairs" in str(scores)
    assert scores == pellucid.link_scores(explanations, ["0-0 1-1 2-2", "0-0 1-1"])
    for links, message in (
        (["0-0"], "links has 1 lines for 2 explanations"),
        (
            ["0-0", "0-0 0-7"],
            "links, line 2: the link .0-7. names a word that is not there; the source has 2 words",
        ),
        (["0-0", "0:0"], "links, line 2: .0:0. is no link"),
        (["", ""], "No target word has a link"),
    ):
        with pytest.raises(BadInput, match=message):
            pellucid.link_scores(explanations, links)
    one_word = pellucid.explain(learnt, pairs[:1], "span_attention", target=pellucid.Word("Hund"))
    with pytest.raises(BadInput, match="has no row for each written word"):
        pellucid.link_scores(one_word, ["0-0"])


@pytest.mark.long
def test_a_translator_learns_the_planted_translation_and_its_spans_find_the_links(tmp_path):
    """A light penalty: a heavy one gathers the spans' weight before they have learnt where to look, and the decoder
    goes without them.
    """
    model = pellucid.train_translator(
        "planted_translation",
        out=tmp_path / "planted",
        pieces=600,
        epochs=18,
        batch_pieces=1500,
        warmup_steps=100,
        network_settings={"layers": 1, "width": 128, "heads": 4, "dropout": 0.0},
        penalties={"entropy": 0.02},
        progress=False,
    )
    test = pellucid.examples("planted_translation", "test")[:100]
    assert pellucid.bleu(model, test, beam=1).bleu.mean >= 99
    scores = pellucid.link_scores(pellucid.explain(model, test, "span_attention", random_spans=0))
    assert scores.precision.mean >= 0.9
    assert max(scores.diagonal, scores.chance) < 0.2
