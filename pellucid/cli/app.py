"""The `pellucid` command: its subcommands, and one clear sentence with exit status 2 when something is wrong."""

import sys

import typer

from pellucid.cli.compare import compare
from pellucid.cli.demo import demo
from pellucid.cli.explain import explain
from pellucid.cli.methods import methods
from pellucid.cli.train import train
from pellucid.core.errors import PellucidError

app = typer.Typer(
    help="Why a text classifier decided as it did, and whether that explanation can be believed.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (explain, compare, train, methods, demo):
    app.command()(command)


def main() -> None:
    """Run a command; a mistake of the user's ends in one sentence on standard error and exit status 2."""
    try:
        app()
    except PellucidError as error:
        sys.exit(_told(str(error), 2))
    except KeyboardInterrupt:
        sys.exit(_told("Interrupted; what was finished is kept, run the same command to go on.", 130))
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        name = f" {error.filename}" if error.filename else ""
        sys.exit(_told(f"The system refused{name}: {error.strerror or error}.", 2))


def _told(sentence: str, status: int) -> int:
    print(" ".join(sentence.split()), file=sys.stderr)
    return status
