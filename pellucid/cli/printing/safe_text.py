"""Printing sentences that quote text from elsewhere: control characters in it cannot reach the terminal."""

import sys

from pellucid.reports.markup.escape import plain


def say(sentence: str, *, aside: bool = False) -> None:
    """Print a line; aside: to standard error instead of among the results."""
    print(plain(sentence), file=sys.stderr if aside else sys.stdout)
