"""A word of a text is replaced, by hand or by a proposal; the edited text then stands beside the text as it was."""

from collections.abc import Iterator, Sequence

from pellucid.attacks.attack_case import Attempt, Place
from pellucid.base.kinds import views
from pellucid.drawing.html import Markup, element, fragment, name
from pellucid.drawing.long_text import LONG, Highlight, around, excerpt_block, text_block
from pellucid.drawing.widgets import as_sent, button, form, hidden_field, labelled, link, text_area, widget
from pellucid.studio.beside import change_of_answer
from pellucid.studio.edits import (
    ATTACKS,
    MOST_QUERIES,
    SOURCES,
    Proposal,
    Proposals,
    Words,
    attempt_of,
    cannot_propose,
    edited_key,
    offered_attacks,
    proposals_for,
    queries_of,
    with_word,
    word_at,
    words_of,
)
from pellucid.studio.explained import seconds_in_words
from pellucid.studio.record import TextRequest
from pellucid.studio.visit import Elsewhere, Page, Visit

MOST_LINKS = 2_000  # words of a text that are links
LONGEST_WORD = 200  # characters of a replacement
EXCERPT = 600  # characters of a long text that are shown around a word
ANOTHER_CLASS = {"success": "The answer changes", "not confirmed": "Alone, the edited text keeps its answer"}


@views.add(title="")
def edit(visit: Visit) -> Page | Elsewhere:
    """Edit a text, a word or the whole: a GET shows it, a POST makes the edited text and goes to the twin."""
    key, question = visit.question
    if visit.form is not None:
        return Elsewhere(visit.address("twin", key, edited_key(visit, key, _edited(visit, question))))
    words = words_of(visit, question)
    if "word" in visit.query:
        title, body = "Edit a word", list(_word_page(visit, key, question, words))
    else:
        title, body = "Edit a text", [_whole_text(visit, key, question, words)]
    attack_list = _attacks(visit, key, question, len(words))
    return Page(title, [*body, *attack_list, _free(visit, key, question), _back(visit, key)], question.model)


def _edited(visit: Visit, question: TextRequest) -> Sequence[str]:
    """The texts that a form made of a question's."""
    if attack := visit.field("attack"):
        return attempt_of(visit, question, attack).segments
    if visit.fields("text"):
        rest = [visit.field("second", text) for text in question.segments[1:]]
        return [visit.field("text"), *rest]
    place = word_at(words_of(visit, question), visit.whole_number("word"))
    return with_word(question, place, visit.field("replacement")[:LONGEST_WORD])


def _back(visit: Visit, key: str) -> Markup:
    return element("p", link("Back to the text and its explanation", visit.address("text", key)))


# A word of the text.


def _word_page(visit: Visit, key: str, question: TextRequest, words: Words) -> Iterator[Markup | None]:
    position = visit.whole_number("word")
    place = word_at(words, position)
    here = visit.address("edit", key, word=position)
    yield _shown_word(question, place)
    yield _neighbours(visit, key, words, position)
    typed = widget(
        "input", type="text", name="replacement", value=place.text, maxlength=LONGEST_WORD, required=True,
        autocomplete="off",
    )  # fmt: skip
    yield form(here, labelled("Put in its place", typed), button("Replace and compare"), css_class="st-line")
    refusal = cannot_propose(visit.studio.model(question.model))
    proposals = None if refusal else proposals_for(visit, question, position, place)
    yield _removal(here, place, proposals)
    yield element("p", name(refusal), class_="pl-note") if proposals is None else _proposals(here, proposals)


def _shown_word(question: TextRequest, place: Place) -> Markup:
    """The word in its text, or in the part of a long text around it."""
    highlight = Highlight(place.segment, place.start, place.end, "pl-asked", "the word")
    if sum(map(len, question.segments)) <= LONG:
        return text_block(question.example, [highlight])
    text = question.segments[place.segment]
    whole = (0, len(text))
    return excerpt_block(text, around(text, whole, highlight, EXCERPT), [highlight], whole)


def _neighbours(visit: Visit, key: str, words: Words, position: int) -> Markup:
    """Links to the words before and after, and to all."""
    before = next((index for index in range(position - 1, -1, -1) if words[index] is not None), None)
    after = next((index for index in range(position + 1, len(words)) if words[index] is not None), None)
    links = [
        link(title, visit.address("edit", key, word=index))
        for title, index in (("← word before", before), ("word after →", after))
        if index is not None
    ]
    links.append(link("all words", visit.address("edit", key)))
    return element("p", *(part for each in links for part in (each, " ")), class_="pl-note")


def _removal(here: str, place: Place, proposals: Proposals | None) -> Markup | None:
    """A button that takes the word out, with what that does to the answer."""
    if proposals is not None and proposals.out is None:
        return element("p", "It is the only word, so it cannot be taken out.", class_="pl-note")
    change = None if proposals is None or proposals.out is None else change_of_answer(proposals.before, proposals.out)
    title = name(f"Take “{place.text}” out")
    field = hidden_field("replacement", "")
    return form(here, field, widget("button", title, type="submit"), element("span", change), css_class="st-line")


def _proposals(here: str, proposals: Proposals) -> Markup:
    """The proposals of each source, each a button with what it does to the answer."""
    sections = []
    for source in dict.fromkeys(proposal.source for proposal in proposals.proposals):
        members = (proposal for proposal in proposals.proposals if proposal.source == source)
        items = (_proposal(proposal, proposals) for proposal in members)
        sections.append(
            element("section", element("h2", SOURCES[source]), element("ul", *items, class_="st-proposals"))
        )
    notes = [element("p", name(note), class_="pl-note") for note in proposals.notes]
    if not sections:
        notes.append(element("p", "There is no proposal for this word; type a word yourself.", class_="pl-note"))
    return form(here, *sections, *notes)


def _proposal(proposal: Proposal, proposals: Proposals) -> Markup:
    change = element("span", change_of_answer(proposals.before, proposal.after))
    pressed = widget("button", name(proposal.text), type="submit", name="replacement", value=proposal.text)
    return element("li", pressed, " ", change)


# The whole text.


def _whole_text(visit: Visit, key: str, question: TextRequest, words: Words) -> Markup:
    """The text, each word a link to its page."""
    if len(words) > MOST_LINKS:
        return text_block(question.example, [])
    blocks = []
    for segment, text in enumerate(question.segments):
        parts: list[Markup | str] = []
        cursor = 0
        for position, place in enumerate(words):
            if place is not None and place.segment == segment and place.start >= cursor:
                address = visit.address("edit", key, word=position)
                parts += [text[cursor : place.start], link(place.text, address, class_="st-word")]
                cursor = place.end
        blocks.append(element("div", *parts, text[cursor:], class_="pl-text st-words", dir="auto", lang=""))
    return element("section", element("p", "Click a word to edit it.", class_="pl-note"), *blocks)


def _free(visit: Visit, key: str, question: TextRequest) -> Markup:
    """A form with the whole text."""
    heading = element("h2", "Edit the whole text")
    if any(text != as_sent(text) for text in question.segments):
        sentence = "The text has control characters, which a form would change; edit it word by word."
        return element("section", heading, element("p", sentence, class_="pl-note"))
    titles = ("Text", "Second text")
    areas = [
        labelled(title, text_area(field, text), "pl-field st-area")
        for title, field, text in zip(titles, ("text", "second"), question.segments, strict=False)
    ]
    return element("section", heading, form(visit.address("edit", key), *areas, button("Compare"), css_class="st-form"))


# Attacks as proposals.


def _attacks(visit: Visit, key: str, question: TextRequest, n_words: int) -> Iterator[Markup]:
    """What attacks made of the text, or a link to each with what it costs."""
    offered = offered_attacks(visit.studio.model(question.model))
    if not offered:
        return
    items = []
    for attack in offered:
        is_open = visit.query.get("attack") == attack
        items.append(
            _attempt(visit, key, question, attack) if is_open else _offer(visit, key, question, attack, n_words)
        )
    yield element(
        "section",
        element("h2", "Attacks: small changes that give another answer"),
        element("ul", *items, class_="st-attacks"),
    )


def _offer(visit: Visit, key: str, question: TextRequest, attack: str, n_words: int) -> Markup:
    """A link that runs an attack, with its estimate."""
    queries = queries_of(attack, n_words)
    pace = visit.studio.paces.get(question.model)
    time = "" if pace is None else f", {seconds_in_words(pace * queries * n_words)}"
    address = visit.address("edit", key, word=visit.query.get("word"), attack=attack)
    cost = element("small", f" at most {queries:,} edited texts{time}", class_="pl-note")
    return element("li", link(ATTACKS[attack][0], address), cost)


def _attempt(visit: Visit, key: str, question: TextRequest, attack: str) -> Markup:
    """The edits of an attack, what they do to the answer, and a button that puts them in."""
    attempt = attempt_of(visit, question, attack)
    title = ATTACKS[attack][0]
    if not attempt.edits:
        return element("li", f"{title}: there is nothing to edit.")
    edits = ", ".join(f"“{change.before}” → “{change.after}”" for change in sorted(attempt.edits))
    sentence = fragment(f"{title}: {_outcome(attempt)} ", name(edits), ". ")
    change = change_of_answer(attempt.before, attempt.after)
    put_in = form(visit.address("edit", key), hidden_field("attack", attack), button("Compare with this text"))
    return element("li", element("p", sentence, change), put_in)


def _outcome(attempt: Attempt) -> str:
    """Whether the answer changed, and by how many edits."""
    count = len(attempt.edits)
    words = f"{count} word{'' if count == 1 else 's'}"
    if attempt.is_success:
        return f"another answer by {words}:"
    why = "all was tried" if attempt.ending == "exhausted" else f"{MOST_QUERIES} texts were tried"
    return f"the same answer ({why}); nearest to another one with {words}:"
