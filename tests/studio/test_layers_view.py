"""The view of layers: its map is that of `layer_analysis`, and nothing of a text is markup."""

import pytest

import pellucid
from pellucid.base.errors import UnknownName
from pellucid.layers.page import layer_sections
from pellucid.studio.frame import framed
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.views.layers import layered_methods, layers
from pellucid.studio.visit import Elsewhere, Visit
from tests.studio.test_text_view import drawn

TEXT = "A gripping, lovely film <script>alert(1)</script>."


@pytest.fixture(scope="module")
def studio(bert, linear):
    return Studio({"bert": bert, "linear": linear})


def page(studio, model, **query):
    key = studio.requests.add(TextRequest(model, (TEXT,)))
    visit = Visit(studio, "layers", (key,), query, reader="reader")
    html = framed(visit, drawn(layers, visit))
    assert "<script>alert" not in html and html.count("<script") == 1 and f'href="../text/{key}"' in html
    return html


@pytest.mark.parametrize("method", ["grad_cam", "guan_gradient"])
def test_the_map_is_that_of_a_layer_analysis(studio, bert, method):
    analysis = pellucid.layer_analysis(bert, [pellucid.Example((TEXT,), id="The text")], method, progress=False)
    html = page(studio, "bert", **({} if method == "grad_cam" else {"method": method}))
    assert layer_sections(analysis)[0].body.text in html
    assert f'<option value="{method}" selected>' in html


def test_a_model_without_layers_says_so(studio, linear):
    assert not layered_methods(linear)
    assert "shows no states of its layers" in page(studio, "linear")


def test_the_form_leads_to_the_layers_of_a_text(studio):
    form = {"model": ["bert"], "text": ["A fine film."]}
    elsewhere = layers(Visit(studio, "layers", form=form))
    assert isinstance(elsewhere, Elsewhere) and elsewhere.address.startswith("./layers/")
    html = framed(Visit(studio, "layers"), layers(Visit(studio, "layers")))
    assert '<option value="bert" selected>' in html and "linear</option>" not in html


def test_a_method_without_layers_is_refused_with_those_that_have_them(studio):
    with pytest.raises(UnknownName, match="grad_cam"):
        page(studio, "bert", method="occlusion")
