"""What ends a text that a model writes: its own configuration and generation_config.json, from a folder as in
memory.
"""

import json

import pytest
from transformers import GenerationConfig

import pellucid
from pellucid.base.errors import BadFile, ModelCannot
from tests.shared.tiny_writing import save_tiny_writing, tiny_writing

PROMPT = "A good film."


@pytest.fixture
def folder(tmp_path):
    return save_tiny_writing(tmp_path / "gpt2", "gpt2")


def changed(path, **values):
    content = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(content | values))


def first_piece(folder):
    """The id of the piece that the model writes first."""
    model = pellucid.load(folder)
    (one,) = pellucid.write(model, PROMPT, max_pieces=1, progress=False)
    return model.tokenizer(PROMPT + one.text)["input_ids"][len(model.tokenizer(PROMPT)["input_ids"])]


def test_several_end_tokens_in_the_configuration(folder):
    plain = pellucid.write(folder, PROMPT, max_pieces=6, progress=False)[0]
    ending = first_piece(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    changed(folder / "config.json", eos_token_id=[0, ending])
    (one,) = pellucid.write(folder, PROMPT, max_pieces=6, progress=False)
    assert plain.is_cut and not one.is_cut and plain.text.startswith(one.text) and len(one.text) < len(plain.text)


def test_the_folders_end_tokens_count_and_its_penalties_do_not(folder):
    plain = pellucid.write(folder, PROMPT, max_pieces=6, progress=False)[0]
    changed(folder / "generation_config.json", repetition_penalty=5.0, min_length=60, no_repeat_ngram_size=1)
    assert pellucid.write(folder, PROMPT, max_pieces=6, progress=False)[0] == plain
    changed(folder / "generation_config.json", eos_token_id=[0, first_piece(folder)])
    (ended,) = pellucid.write(folder, PROMPT, max_pieces=6, progress=False)
    assert not ended.is_cut and len(ended.text) < len(plain.text)
    memory = tiny_writing("gpt2")
    settings = json.loads((folder / "generation_config.json").read_text())
    memory.network.generation_config = GenerationConfig(**settings)
    same = pellucid.load(memory.network, tokenizer=memory.tokenizer)
    assert pellucid.write(same, PROMPT, max_pieces=6, progress=False) == [ended]


@pytest.mark.parametrize("ids", [[0, 10**6], -3, ["a"], True])
def test_ids_that_are_none_are_refused_in_one_sentence(folder, ids):
    changed(folder / "generation_config.json", eos_token_id=ids)
    with pytest.raises(BadFile, match=r"eos_token_id=.*, which is no id of the model's"):
        pellucid.load(folder)


def test_a_model_that_writes_nothing_gives_an_empty_text_and_is_not_explained(folder):
    model = pellucid.load(folder)
    never = [id for id in range(len(model.tokenizer)) if id != model.tokenizer.eos_token_id]
    changed(folder / "generation_config.json", suppress_tokens=never, eos_token_id=model.tokenizer.eos_token_id)
    written = pellucid.write(folder, [PROMPT, "Dull."], max_pieces=6, progress=False)
    assert [(one.text, one.is_cut) for one in written] == [("", False)] * 2
    with pytest.raises(ModelCannot, match=r"writes nothing after 'A good film\.', so there is no word to explain"):
        pellucid.explain(folder, PROMPT, progress=False)
