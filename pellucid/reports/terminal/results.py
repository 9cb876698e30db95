"""Many texts in a terminal: a few whole, more as a summary and a table."""

from pellucid.core.corpus.results import Results
from pellucid.core.foundation.kinds import renderers


@renderers.add(draws="results")
def terminal_results(
    results: Results, *, full: bool = False, colour: bool | None = None, width: int | None = None
) -> str:
    """Up to five texts whole; of more a summary and a table of twenty lines.

    full: every text whole. colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    whole = renderers.get("terminal_text").make
    return "\n".join(whole(one, colour=colour, width=width) for one in results)
