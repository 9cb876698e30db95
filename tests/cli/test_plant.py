"""`pellucid plant`: the folder it writes can be trained on, and mistakes end in one sentence."""

import pytest

import pellucid


def test_plant_writes_parts_and_says_what_to_do_next(run, tmp_path):
    words = ("--out", tmp_path / "made", "--n", 20, "--distractor", 0.7, "--seed", 3, "--set", "per_text=5")
    status, out, _ = run("plant", "lexicon", "--on", "pocket_pairs", *words)
    assert status == 0
    assert "20 train, 4 dev, 4 test" in out and f"pellucid train {tmp_path / 'made'}" in out
    parts = pellucid.plant("lexicon", "pocket_pairs", n=20, distractor=0.7, seed=3, per_text=5)
    assert {part: pellucid.examples(tmp_path / "made", part) for part in parts} == parts


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plant", "tokens", "--out", "OUT"), "Did you mean 'token'?"),
        (("plant", "token", "--out", "OUT", "--on", "pockett"), "Did you mean 'pocket'?"),
        (("plant", "lexicon", "--out", "OUT", "--set", "per_text=4"), "per_text=4 is even"),
        (
            ("plant", "token", "--out", "OUT", "--set", "per_text=3"),
            "No setting of token is called 'per_text'",
        ),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_status_2(run, tmp_path, words, message):
    status, out, err = run(*(tmp_path / "out" if word == "OUT" else word for word in words))
    assert (status, out) == (2, "")
    assert message in err and err.count("\n") == 1
