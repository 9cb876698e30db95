"""What became of attacks, in words."""

from pellucid.core.corpus.attempts import AttackSummary
from pellucid.core.results.attempt import Attempt, Ending
from pellucid.reports.wording.numbers import percent

ENDINGS: dict[Ending, str] = {
    "success": "fooled",
    "exhausted": "not fooled: everything was tried",
    "budget": "not fooled: no query was left",
    "wrong before": "not attacked: the answer was wrong before",
    "nothing to edit": "not fooled: no word could be edited",
    "not confirmed": "not fooled: alone, the edited text gets another answer than among others",
}
COLUMNS = ("attack", "fooled", "right before → after", "queries", "words edited", "similarity")
KEY = (
    "Fooled: the share of the texts answered right before whose answer changed, with its 95 % interval. Queries: edited texts that the model "
    "read, and passes of the order, a text on average. Words edited: the mean share, of texts that were fooled. Similarity: the mean cosine of "
    "MiniLM's vectors of both texts; 0.9 is the median of texts translated to Spanish and back, 0.22 that of texts that have nothing to do "
    "with each other; a changed word that turns the meaning around may cost little."
)
MEANING = "A changed answer is a fault of the model only where a reader would still give the old one: read the edited texts."


def row_of(summary: AttackSummary) -> tuple[str, ...]:
    """The cells of an attack's line, as COLUMNS names them."""
    success = summary.success
    fooled = (
        f"{percent(success.mean)} [{percent(success.low)}, {percent(success.high)}]"
        if summary.n_attacked
        else "–"
    )
    edited = percent(summary.edited.mean) if summary.edited.mean == summary.edited.mean else "–"
    similarity = (
        f"{summary.similarity.mean:.2f}" if summary.similarity.mean == summary.similarity.mean else "–"
    )
    queries = f"{summary.queries.mean:,.0f}" if summary.n_attacked else "–"
    accuracy = f"{percent(summary.accuracy_before)} → {percent(summary.accuracy_after)}"
    return summary.attack, fooled, accuracy, queries, edited, similarity


def outcome(attempt: Attempt) -> str:
    """What became of one attempt: the ending, both answers and the cost."""
    if not attempt.is_attacked:
        return ENDINGS[attempt.ending]
    answers = f"{attempt.before.label} {attempt.before.probability:.2f} → {attempt.after.label} {attempt.after.probability:.2f}"
    queries = f"{attempt.queries:,} quer{'y' if attempt.queries == 1 else 'ies'}"
    return f"{ENDINGS[attempt.ending]}; {answers}; {queries}"
