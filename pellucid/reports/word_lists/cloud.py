"""A word cloud as text in SVG: the heavier a word, the larger it is; without script, and readable without sight."""

from collections.abc import Sequence

from pellucid.core.corpus.word_lists import Sums, WordSum
from pellucid.reports.markup.html import Markup, element
from pellucid.reports.word_lists.cloud_layout import WIDTH, CloudWord, cloud_layout

BRIGHT = 10  # words in the accent's colour
SPOKEN = 8  # words that a screen reader reads


def word_cloud(words: Sequence[WordSum], label: str, sums: Sums = "raw") -> Markup | None:
    """The words of a class, highest score first, as a cloud; None where there are none."""
    positioned, height = cloud_layout([(word.word, word.score(sums)) for word in words])
    if not positioned:
        return None
    texts = (_text(place, number, words[number].is_stop_word) for number, place in enumerate(positioned))
    largest = ", ".join(word.word for word in words[:SPOKEN])
    return element(
        "svg",
        *texts,
        viewBox=f"0 0 {WIDTH:g} {height:.1f}",
        role="img",
        aria_label=f"Word cloud of {label}; largest: {largest}",
        class_="pl-cloud",
    )


def _text(place: CloudWord, number: int, is_stop_word: bool) -> Markup:
    css_classes = ["pl-bright"] * (number < BRIGHT) + ["pl-stop"] * is_stop_word
    return element(
        "text",
        place.text,
        x=f"{place.x:.1f}",
        y=f"{place.baseline:.1f}",
        font_size=f"{place.size:.1f}",
        textLength=f"{place.width:.1f}",
        lengthAdjust="spacingAndGlyphs",
        text_anchor="middle",
        class_=" ".join(css_classes) or None,
    )
