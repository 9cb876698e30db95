"""`pellucid explain` of a model that writes."""

import json

from tests.shared.tiny_writing import save_tiny_writing

PAIR = ("A good film about a dog.", "A fine story, well told.")


def test_a_word_is_explained_against_another(run, tmp_path):
    words = ["explain", save_tiny_writing(tmp_path / "model"), PAIR[0], "--second", PAIR[1]]
    status, out, _ = run(*words, "--target", "story", "--against", "film")
    assert status == 0 and "log-probability of story against film" in out
    status, _, err = run(*words, "--target", "dog")
    assert status == 2 and "The word 'dog' is not in the text that the model writes" in err
    status, _, err = run("explain", words[1], PAIR[0], "--second", PAIR[1], "--output", "probability")
    assert status == 2 and "a word has its log-probability" in err


def test_passages_of_the_prompt_have_scores(run, tmp_path):
    words = ["explain", save_tiny_writing(tmp_path / "model", "gpt2"), "A good film. A kind dog. Is it?"]
    words += ["--second", "It is.", "--passage", "A good film.", "--passage", "A kind dog."]
    status, out, _ = run(*words)
    assert status == 0 and "“A kind dog.”" in out and "“Is it?”" in out
    status, _, err = run(*words, "--passage", "A bad film.")
    assert status == 2 and "The passage 'A bad film.' is not in the first text" in err


def test_other_commands_say_that_they_read_classifiers(run, tmp_path):
    status, _, err = run("attack", save_tiny_writing(tmp_path / "model"), "A good film.")
    assert status == 2 and "writes texts, and this works with classifiers alone" in err


def test_write_prints_what_the_model_writes(run, tmp_path):
    folder = save_tiny_writing(tmp_path / "model")
    status, out, err = run("write", folder, "A good film.", "--max-pieces", "4")
    assert status == 0 and out.strip() and "ended because there was no more room" in err
    status, out, _ = run("write", folder, "A good film.", "--max-pieces", "4", "--json")
    assert status == 0 and json.loads(out)[0]["source"] == "A good film."
