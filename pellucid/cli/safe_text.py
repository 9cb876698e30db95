"""Sentences of ours that quote what strangers wrote: nothing in them can command a terminal."""

import sys

from pellucid.reports.markup.escape import plain


def say(sentence: str, *, aside: bool = False) -> None:
    """Print a line; aside: to standard error, beside the results."""
    print(plain(sentence), file=sys.stderr if aside else sys.stdout)
