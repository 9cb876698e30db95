"""Figures and LaTeX: what they show, that they are the same each time, and what is refused."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.attention.record import AttentionAnalysis
from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.comparison.figure import methods_to_draw
from pellucid.drawing.canvas import palette
from pellucid.drawing.heat_map import drawable_view
from pellucid.explaining.views.text_figure import runs_right_to_left, word_places
from pellucid.explaining.views.words_figures import escaped, spread
from pellucid.results.results import Results
from tests.shared.attention_samples import WORDS, sample_attention, sample_model, with_adversary
from tests.shared.layer_samples import TEXTS as LAYER_TEXTS
from tests.shared.layer_samples import sample_analysis
from tests.shared.sample_results import HOSTILE, sample_explanation, sample_table

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex
from matplotlib.text import Text

TEXTS = ("a fine film", "a fine, dull film", "dull dull film", "a film", "a fine dull film", "fine film")


def results():
    """Six texts in which "fine" speaks for the class, "dull" against it, and "film" not."""
    scores = {"fine": 1.0, "dull": -0.8, "film": 0.1, "a": 0.02, ",": 0.0}
    explained = []
    for number, text in enumerate(TEXTS):
        one = sample_explanation(text, "occlusion", label="positive", id=str(number), labels=("negative", "positive"))
        noise = 0.01 * number
        values = [scores.get(label, 0.0) + (noise if label in ("fine", "dull") else 0) for label in one.units.labels]
        explained.append(replace(one, scores=np.array(values)))
    return Results(tuple(explained))


def table():
    return sample_table()


SUBJECTS = {
    "text": lambda: sample_explanation("A $fine$ film that costs $5_000, {really}."),
    "words": lambda: results().words(),
    "scores": results,
    "table": table,
    "curves": table,
    "map": sample_analysis,
    "units": sample_attention,
    "adversary": lambda: AttentionAnalysis((with_adversary(sample_model()),)),
}


def texts_of(figure):
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.whole
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", SUBJECTS)
def test_a_figure_is_written_in_three_formats_and_is_the_same_each_time(kind, theme, tmp_path):
    contents = {}
    endings = ("svg", "png", "pdf") if theme == "light" else ("svg",)  # colours are the same in all
    for round_ in ("first", "second"):
        for ending in endings:
            path = tmp_path / f"{round_}.{ending}"
            figure = pellucid.figure(SUBJECTS[kind](), path, kind=kind, theme=theme, width=5)
            contents[round_, ending] = path.read_bytes()
            assert figure.get_figwidth() == 5
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    for ending in endings:
        assert contents["first", ending].startswith(starts[ending])
        assert contents["first", ending] == contents["second", ending]
    ElementTree.fromstring(contents["first", "svg"])


@pytest.mark.parametrize("kind", sorted(SUBJECTS.keys() - {"text"}))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_titles_of_panels_have_the_colour_of_the_themes_text(kind, theme):
    panel = pellucid.figure(SUBJECTS[kind](), kind=kind, theme=theme).axes[0]
    titles = [one for one in panel.findobj(Text) if one.get_text() == panel.get_title(loc="left") != ""]
    assert titles and all(to_hex(one.get_color()) == palette(theme).ink for one in titles)


def test_a_text_shows_each_word_as_it_is_written_on_the_colour_of_its_score():
    explanation = SUBJECTS["text"]()
    figure = explanation.plot()
    shown = texts_of(figure)
    assert [word for word, _ in explanation] == shown[1 : 1 + len(explanation)]
    assert all(not text.get_parse_math() for text in figure.axes[0].texts)
    assert shown[0].replace("\u00a0", " ") == "positive (80 %)" and any("for positive" in text for text in shown)


def test_the_strongest_word_is_underlined_solid_for_and_dashed_against():
    explanation = sample_explanation("good bad film", scores=np.array([9.0, 2.0, -2.0, 0.0, 9.0]))
    lines = explanation.plot().axes[0].lines
    assert [line.get_linestyle() for line in lines] == ["-", "--"]


@pytest.mark.parametrize("text", [HOSTILE, "$\\frac{", "\u202ea b", "x\n\ny", "word" * 300, "😀 这部电影"])
@pytest.mark.filterwarnings("ignore:Glyph")
def test_any_text_is_drawn(text, tmp_path):
    explanation = sample_explanation(text, label="positive")
    pellucid.figure(explanation, tmp_path / "text.svg")
    ElementTree.fromstring((tmp_path / "text.svg").read_bytes())


def test_a_text_from_right_to_left_begins_at_the_right():
    assert runs_right_to_left("«مرحبا» there") and not runs_right_to_left("42 fine مرحبا")
    for text, rising in (("one two three", True), ("واحد اثنان ثلاثة", False)):
        places = [word.x for word in word_places(drawable_view(sample_explanation(text)), 5.0)]
        assert (places == sorted(places)) is rising and len(places) == 3


def test_a_map_has_a_panel_a_model_a_line_a_layer_and_a_column_a_word():
    analysis = sample_analysis()
    figure = pellucid.figure(analysis, text=1)
    assert len(figure.axes) == len(analysis.models)
    for panel, name in zip(figure.axes, analysis.names, strict=True):
        one = analysis.map(1, name)
        assert [tick.get_text() for tick in panel.get_xticklabels()] == list(one.words)
        assert [tick.get_text() for tick in panel.get_yticklabels()] == list(one.rows)
        assert len(panel.patches) == one.scores.size
        strongest = panel.patches[int(np.abs(one.scores).argmax())].get_facecolor()
        weakest = panel.patches[int(np.abs(one.scores).argmin())].get_facecolor()
        assert sum(strongest[:3]) < sum(weakest[:3])
    assert any("nats" in text for text in texts_of(figure)) and len(LAYER_TEXTS) > 1


def test_units_have_a_line_a_model_its_own_answer_dotted_and_the_weights_below():
    lines, weights = pellucid.figure(sample_attention()).axes
    drawn = [list(line.get_ydata()) for line in lines.lines]
    assert drawn[0] == pytest.approx([place / 6 for place in range(6)]) and drawn[1] == [0.9, 0.9]
    assert len(drawn) == 4 and [line.get_linestyle() for line in lines.lines][1] == ":"
    assert [tick.get_text() for tick in weights.get_xticklabels()] == list(WORDS)
    assert [bar.get_height() for bar in weights.patches] == pytest.approx([1 / 6] * 6)


def test_an_adversary_has_a_point_a_lambda():
    [panel] = pellucid.figure(SUBJECTS["adversary"](), kind="adversary").axes
    [line] = panel.lines
    assert list(line.get_xdata()) == [0, 0.05, 0.5] and list(line.get_ydata()) == [0, 0.025, 0.25]
    assert [one.get_text() for one in panel.texts] == ["0", "0.1", "1"]


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"text": 1}, BadSetting, "is no text of this analysis; give 0 to 0"),
        ({"kind": "map"}, BadSetting, "give one of adversary, units"),
        ({"kind": "adversary"}, BadInput, "No adversary was trained"),
    ],
)
def test_what_an_attention_analysis_does_not_have_is_refused(settings, error, message):
    with pytest.raises(error, match=message):
        pellucid.figure(sample_attention(), **settings)


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"text": 99}, BadSetting, "is no text of this analysis"),
        ({"kind": "words"}, BadSetting, "give one of map"),
    ],
)
def test_a_map_of_what_is_not_there_is_refused(settings, error, message):
    with pytest.raises(error, match=message):
        pellucid.figure(sample_analysis(), **settings)


def test_words_stand_under_their_class_in_order_with_counts():
    shown = texts_of(pellucid.figure(results(), kind="words"))
    places = [shown.index(word) for word in ("fine (4)", "film (6)", "dull (3)")]
    assert places == sorted(places) and "positive" in shown


def test_a_dot_is_a_text_and_a_hollow_one_a_mistake():
    wrong = replace(results()[0], prediction=replace(results()[0].prediction, label="negative"))
    figure = pellucid.figure(Results((wrong, *results()[1:])))
    rows = figure.axes[0].collections
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["fine", "film", "a", "dull"]
    assert [len(row.get_offsets()) for row in rows] == [4, 6, 4, 3]
    hollow = [(np.asarray(row.get_facecolors())[:, 3] == 0).sum() for row in rows]
    assert hollow == [1, 1, 1, 0]


def test_words_that_might_not_matter_have_no_row():
    mixed = [replace(one, scores=one.scores * sign) for one, sign in zip(results(), [1, -1] * 3, strict=True)]
    with pytest.raises(BadInput, match="no word to draw"):
        pellucid.figure(mixed)


def test_equal_scores_stand_beside_each_other():
    moved = spread(np.zeros(9), 1.0)
    assert len(set(moved)) == 9 and np.abs(moved).max() == 1
    assert spread(np.array([0.1, 0.5, 0.9]), 1.0).tolist() == [0, 0, 0]


def test_of_many_methods_the_best_are_drawn_and_the_others_counted():
    many = sample_table(methods=(*(f"method_{number}" for number in range(9)), "chance"))
    methods, left_out = methods_to_draw(many, None)
    assert len(methods) == 8 and methods[-1] == "chance" and left_out == 2
    figure = pellucid.figure(many, kind="curves")
    assert any("2 methods with smaller differences" in " ".join(text.split()) for text in texts_of(figure))
    named = pellucid.figure(many, kind="curves", methods=["method_3"])
    assert {line.get_label() for line in named.axes[0].lines} == {"method 3", "chance"}
    with pytest.raises(UnknownName, match="method_33"):
        pellucid.figure(many, kind="curves", methods=["method_33"])


def test_the_table_shows_every_number_of_every_metric():
    cells = table().cells
    shown = texts_of(pellucid.figure(table()))
    for cell in cells:
        if cell.method != "chance":
            assert f"{cell.value.mean:.3f}".replace("-", "\u2212") in shown


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"result": "a text"}, BadInput, "str came"),
        ({"result": []}, BadInput, "list came"),
        ({"result": table, "kind": "scores"}, BadSetting, "table"),
        ({"result": table, "path": "figure.gif"}, BadSetting, r"\.svg"),
        ({"result": table, "theme": "sepia"}, BadSetting, "light"),
        ({"result": table, "width": 0}, BadSetting, "inches"),
        ({"result": table, "top": 3}, UnknownName, "top"),
        ({"result": results, "top": 0}, BadSetting, "top"),
        ({"result": lambda: results()[:1]}, BadInput, "no word to draw"),
        ({"result": lambda: sample_table(curves=()), "kind": "curves"}, BadInput, "no curves"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, error, message):
    result = arguments.pop("result")
    with pytest.raises(error, match=message):
        pellucid.figure(result() if callable(result) else result, **arguments)


def test_latex_reads_every_character_as_itself():
    assert escaped(r"50% of $5_000 & {~^#} \x") == (
        r"50\% of \$5\_000 \& \{\textasciitilde{}\textasciicircum{}\#\} \textbackslash{}x"
    )


def test_a_table_in_latex_has_a_row_a_method_and_bold_numbers_where_chance_is_beaten():
    lines = pellucid.latex(table()).splitlines()
    assert lines[0] == r"\begin{tabular}{lcccc}" and lines[-1] == r"\end{tabular}"
    rows = [line for line in lines if line.startswith(tuple(map(readable_start, table().methods)))]
    assert len(rows) == len(table().methods) and all(row.count("&") == 4 for row in rows)
    better = sum(cell.verdict == "better than chance" for cell in table().cells)
    assert pellucid.latex(table()).count(r"\textbf") == better > 0


def readable_start(method):
    return method.replace("_", " ")


def test_a_text_in_latex_has_its_words_on_their_colours():
    latex = pellucid.latex(sample_explanation("good & bad", scores=np.array([9.0, 1.0, 0.0, -1.0, 9.0])))
    assert r"\colorbox[HTML]{" in latex and r"\underline{good}" in latex and r"\&" in latex
    assert latex.count("{") == latex.count("}")


def test_words_in_latex_name_the_class_once():
    latex = pellucid.latex(results().words())
    assert latex.count("positive") == 1 and "fine &" in latex and r"\textit{a}" in latex
    with pytest.raises(BadInput, match="LaTeX"):
        pellucid.latex("a text")
