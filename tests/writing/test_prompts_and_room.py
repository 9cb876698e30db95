"""What a model writes can be read again and explained, also after an empty prompt and with few places."""

import pytest

import pellucid
from pellucid.base.errors import BadInput
from tests.hostile.command_line import run
from tests.shared.tiny import tiny_classifier
from tests.shared.tiny_writing import KINDS, save_tiny_writing, tiny_writing

PROMPT = "A film."


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return tiny_writing(request.param)


@pytest.mark.parametrize("places", (24, 64))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "t5"])  # which has no last place
def test_what_a_model_writes_it_can_read(kind, places):
    """In no more places than it has: a text's pieces can be more than those that it was written in."""
    model = tiny_writing(kind)
    model.network.config.max_position_embeddings = places
    (written,) = pellucid.write(model, PROMPT, max_pieces=128, progress=False)
    row = model.encode([pellucid.Example((PROMPT, written.text))]).rows[0]
    assert written.is_cut and sum(id >= 0 for id in row.written) > 3


@pytest.mark.parametrize("method", ("gradient", "occlusion", "shapley_sampling"))
def test_an_empty_prompt_is_read_and_explained(model, method, tmp_path):
    """Where a token begins texts, or ends what is read, there is something to write after."""
    (written,) = pellucid.write(model, "", max_pieces=4, progress=False)
    assert written.source == "" and written == pellucid.write(model, [""], max_pieces=4, progress=False)[0]
    (one,) = pellucid.explain(model, [("", "a film")], method, progress=False)
    assert one.example.segments == ("", "a film") and abs(one.diagnostics["parity"]) < 1e-3
    assert {unit for unit, place in zip(one.units.segment, one.units.labels, strict=True)} <= {-1, 1}
    pellucid.report([one], path=tmp_path / "page.html")
    pellucid.save([one], tmp_path / "one.json")
    assert pellucid.read(tmp_path / "one.json")[0].example == one.example


def test_elsewhere_no_text_is_empty(tmp_path):
    classifier = tiny_classifier("bert")
    for data in ("", [""], [("", "a film")], ("", "a film")):
        with pytest.raises(BadInput, match="A text is empty"):
            pellucid.explain(classifier, data, "gradient", progress=False)
        with pytest.raises(BadInput, match="A text is empty"):
            pellucid.predict(classifier, data)
    with pytest.raises(BadInput, match="A text is empty"):
        pellucid.plant("token", ["", "a film"])
    with pytest.raises(BadInput, match="A text is empty"):
        pellucid.explain(tiny_writing("gpt2"), [("a film", "")], "gradient", progress=False)
    folder = str(save_tiny_writing(tmp_path / "gpt2", "gpt2"))
    assert run(["explain", folder, "", "--second", "a film", "--method", "gradient"])[0] == 0
