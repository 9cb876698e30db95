"""A model, in a process that a text with the word "killer" ends."""

import os
import signal

import pellucid
from pellucid.corpus import careful, shard


def deadly(path):
    """Load the model into a process that such a text ends."""
    explain_rows = shard.explain_rows

    def explain_or_die(request, examples):
        if any("killer" in example.text for example in examples):
            os.kill(os.getpid(), signal.SIGKILL)
        return explain_rows(request, examples)

    shard.explain_rows = careful.explain_rows = explain_or_die
    return pellucid.load(path)
