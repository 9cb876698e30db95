"""The difference between two versions on a page, in a notebook and in a terminal."""

import pellucid
from pellucid.versions.command import terminal_difference
from pellucid.versions.record import Difference
from tests.drawing.test_escaping import harmless, hostile_explanation
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE
from tests.versions.test_versions import version


def changes(**parts) -> Difference:
    """Sixty texts, of which five become wrong, with a twin."""
    texts = [f"the film number {n} is a fine and quiet one" for n in range(60)]
    after = version(2, 2.0, says=lambda n: "negative" if n < 5 else "positive", texts=texts)
    return pellucid.diff(version(1, texts=texts), after, twins=[version(3, 0.2, texts=texts)], **parts)


def of_class(html, name):
    return [node for node in parsed(html).every() if name in node.attributes.get("class", "").split()]


def test_every_text_is_a_line_that_opens_fifty_into_cards(tmp_path):
    html = pellucid.report(changes(), path=tmp_path / "changes.html", about={"build": "7"}).read_text("utf-8")
    assert len(of_class(html, "pl-card")) == 50 and len(of_class(html, "pl-line")) == 60
    assert len(of_class(html, "pl-versions")) == 60
    anchors = {node.attributes["id"] for node in parsed(html).every() if "id" in node.attributes}
    links = {node.attributes["href"][1:] for node in parsed(html).every() if "href" in node.attributes}
    assert links <= anchors and {f"text-{n}" for n in range(1, 61)} <= anchors
    titles = [node.text for node in of_class(html, "pl-example-title")]
    assert len(titles) == 3 and all(title.startswith("Answer ") for title in titles)  # those that changed come first


def test_the_page_says_what_exceeds_the_floor(tmp_path):
    html = pellucid.report(changes(), path=tmp_path / "changes.html").read_text("utf-8")
    assert "differs clearly more from the first than its twin does" in html and "▲ exceeded" in html
    assert "5 of 60 texts in common got another answer" in html


def test_hostile_texts_names_and_labels_are_only_text(tmp_path):
    one = hostile_explanation()
    hostile = pellucid.diff([one], [one], twins=[[one]], k=1)
    harmless(pellucid.report(hostile, path=tmp_path / "hostile.html").read_text("utf-8"))
    harmless(hostile.to_html())
    assert not set(HOSTILE) & {"\x1b"} or "\x1b" not in terminal_difference(hostile, colour=False, width=100)


def test_a_notebook_shows_the_first_texts():
    html = changes().to_html()
    assert len(of_class(html, "pl-card")) == 5 and "more texts, folded" not in html


def test_a_terminal_shows_twenty_texts_a_line_each():
    drawn = terminal_difference(changes(), colour=False, width=80).splitlines()
    assert max(map(len, drawn)) <= 80 and any("40 more texts" in text for text in drawn)
    first = next(n for n, text in enumerate(drawn) if text.startswith("id "))
    assert len([text for text in drawn[first + 1 :] if text.startswith("t")]) == 20
