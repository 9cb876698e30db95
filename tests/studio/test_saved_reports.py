"""What a view shows is saved as the report that the command writes of the same results."""

import pytest

import pellucid
from pellucid.base.kinds import views
from pellucid.studio.frame import framed, report_of
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.visit import Visit
from tests.shared.parsed import parsed
from tests.studio.test_text_view import drawn

TEXTS = ["A gripping, lovely film.", "Long, winding and in the end rather dull."]
METHODS = ("occlusion", "gradient_x_input")


@pytest.fixture(scope="module")
def studio(bert, self_explaining, tmp_path_factory):
    run = pellucid.explain_corpus(bert, TEXTS, ["occlusion"], folder=tmp_path_factory.mktemp("run"), progress=False)
    table = pellucid.compare(bert, TEXTS, list(METHODS), ["comprehensiveness"], progress=False)
    return Studio({"bert": bert, "spans": self_explaining}, {"texts": run}, {bert.hash: table})


def explained(model, text, method="occlusion"):
    return pellucid.explain(model, pellucid.Example((text,)), method, progress=False)


def layers_of(model):
    example = pellucid.Example((TEXTS[0],), id="The text")
    return pellucid.layer_analysis(model, [example], "grad_cam", target="predicted", progress=False)


RESULTS = {
    "text": lambda studio: (explained(studio.model("bert"), TEXTS[0]), studio.table(studio.model("bert"))),
    "twin": lambda studio: ([each for text in TEXTS for each in explained(studio.model("bert"), text)], None),
    "models": lambda studio: ([explained(studio.model(name), TEXTS[0])[0] for name in ("bert", "spans")], None),
    "layers": lambda studio: (layers_of(studio.model("bert")), None),
    "trust": lambda studio: ([], studio.table(studio.model("bert"))),
    "run": lambda studio: (list(studio.run("texts")), None),
}


def visit_of(studio, view):
    keys = [studio.requests.add(TextRequest("bert", (text,), ("occlusion",))) for text in TEXTS]
    paths = {"twin": tuple(keys), "trust": ("bert",), "run": ("texts",)}
    query = {"models": {"other": "spans"}, "layers": {"method": "grad_cam"}}
    return Visit(studio, view=view, path=paths.get(view, (keys[0],)), query=query.get(view, {}), reader="reader")


@pytest.mark.parametrize("view", RESULTS)
def test_a_page_is_saved_as_the_report_of_its_results(studio, view, tmp_path):
    visit = visit_of(studio, view)
    page = drawn(views.get(view).make, visit)
    tree = parsed(framed(visit, page).removeprefix("<!doctype html>"))
    assert [link.text for link in tree.every("a") if "save=yes" in link.attributes["href"]] == [
        "Save this page as a report"
    ]
    results, table = RESULTS[view](studio)
    pellucid.report(results, table, path=tmp_path / "page.html")
    saved, expected = report_of(page).content, (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<form" not in saved and "<script" not in saved
    assert saved == expected
