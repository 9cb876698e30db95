"""The page of the attacks."""

from pellucid.base.checks import percent
from pellucid.results.table import Interval
from studies.s0_attacks.numbers import QUERIES
from studies.s0_attacks.tasks import PAPER, PLAIN, SELF, SPANS
from studies.shared.attack_picture import attack_picture
from studies.shared.claims import ENOUGH_SEEDS, claim_of, claims_table
from studies.shared.computing_environment import where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

NAMES = {SELF: "explains itself", PLAIN: "plain twin"}
DRAWN = ("random", "gradient", "text_order", "pwws", SPANS)


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about, claims = numbers["about"], [claim_of(one) for one in numbers["claims"]]
    cut = f", cut after {about['words']} words" if about["words"] else ""
    return (
        f"# {about['title']}: how few edits fool a classifier\n\n"
        f"Table 8 of Sun and others (2020). Victims: {about['encoder']} learnt from {about['n_train']:,} texts{cut}, "
        f"{about['epochs']} epochs, {about['seeds']} seeds; one explains itself by its spans, its twin does not. "
        f"{about['n_test']:,} test texts are attacked, each by every attack\nuntil the answer changes or nothing is "
        f"left to try. The paper's attacks were not on one victim "
        f"([A0.17](../../../docs/papers/corrections.md#a017)).\n\n{not_run_yet(numbers['missing'])}![Right answers "
        f"against "
        f"queries](attacks.svg)\n\n{_table(numbers)}\n\nPercent of all texts that are answered right: before, when the "
        f"attack has ended, and where it may give the model only so many edited texts;\nwith 95 % intervals over seeds "
        f"and texts. Never tried: the share of attacked texts in which the attack has nothing to edit. Queries: "
        f"the mean over attacked texts, those that the order costs included. Edited: the share "
        f"of\nwords, and similarity: the cosine of MiniLM's vectors, both of texts that were fooled. Whether a reader "
        f"would still give the old\nanswer to these texts is not measured. The span attack on the plain twin edits the "
        f"spans of the other.\n\n## Claims of the paper\n\nPoints of accuracy on the victim that explains itself. "
        f"Below {ENOUGH_SEEDS} seeds there is no "
        f"verdict.\n\n{claims_table(claims, 'points') if claims else 'None could be tested.'}\n{_shown(numbers)}"
        f"{where_computed(numbers['machines'])}\n"
    )


def as_picture(numbers: Numbers) -> str:
    """Right answers of the self-explaining victim against queries, a curve an attack."""
    curves = {one["attack"]: one["curve"] for one in numbers["rows"] if one["victim"] == SELF}
    return attack_picture(f"{numbers['about']['title']}: right answers under attack", curves, DRAWN)


def _table(numbers: Numbers) -> str:
    paper = PAPER.get(numbers["about"]["task"], {})
    head = [
        "victim",
        "attack",
        "seeds",
        "after",
        *(f"at {one}" for one in QUERIES),
        "never tried",
        "queries",
        "edited",
        "similarity",
        "paper",
    ]
    before = [
        [
            NAMES[victim],
            "before",
            numbers["about"]["seeds"],
            _interval(of),
            *["–"] * (len(QUERIES) + 4),
            paper.get("before", "–"),
        ]
        for victim, (of,) in numbers["victims"].items()
    ]
    rows = [
        [
            NAMES[one["victim"]],
            one["attack"].replace("_", " "),
            len(one["seeds"]),
            _interval(one["after"]),
            *(f"{of['mean']:.1f}" for of in one["at"]),
            percent(one["nothing_to_edit"] / max(one["n_attacked"], 1)),
            "–" if one["queries"] is None else f"{one['queries']:.0f}",
            "–" if one["edited"] is None else percent(one["edited"]),
            "–" if one["similarity"] is None else f"{one['similarity']:.2f}",
            paper.get(one["attack"], "–") if one["victim"] == SELF else "–",
        ]
        for one in numbers["rows"]
    ]
    return markdown_table(head, [*before, *rows])


def _interval(record: dict[str, float]) -> str:
    of = Interval(**record)
    return f"{of.mean:.1f} [{of.low:.1f}, {of.high:.1f}]"


def _shown(numbers: Numbers) -> str:
    """Table 7, of our own sentences."""
    if not numbers["shown"]:
        return ""
    rows = [
        [
            one["attack"].replace("_", " "),
            NAMES[one["victim"]],
            _cell(one["before"]),
            _cell("; ".join(f"{before} → {after}" for before, after in one["edits"])),
            " → ".join(one["answers"]),
        ]
        for one in numbers["shown"]
    ]
    return (
        f"## Sentences that were fooled\n\n{markdown_table(['attack', 'victim', 'text', 'edits', 'answer'], rows)}\n\n"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
