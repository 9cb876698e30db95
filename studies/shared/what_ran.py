"""What a study ran with: the command that makes its page, and the name of the encoder in it.

The studies' own texts call the pretrained encoder MiniLM, as their usual one is; where another ran, its name stands
there.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studies.shared.options import FINISHED, OUT, PROCESSES, WORK, command_words
from studies.shared.study import Settings, Study

RAN = "ran"  # its name in results
USUAL = "MiniLM"
USUAL_ENCODERS = ("", "minilm", "all-MiniLM-L6-v2")  # "": the study or its size says which
NAMED = re.compile(rf"(?<![\w-])(?:all-{USUAL}-L6-v2|{USUAL})(?![\w-])")


def what_ran(study: Study, settings: Settings, is_whole: bool = True) -> dict[str, Any]:
    """The record of a run: command, and by name whatever the study was asked for.

    The number of processes is left out, since it changes no byte. is_whole: whether all work is done; only where it is
    not, does `--finished` change the page.
    """
    values = vars(settings) | {"size": settings.size_name} | dict(settings.own)
    without = {PROCESSES.name, *([FINISHED.name] if is_whole else [])}
    options = [one for one in study.all_options if one.name not in without]
    words = command_words(options, {one.destination: values[one.destination] for one in options})
    command = shlex.join(["python", "-m", "studies", settings.study, *words])
    named = {one.destination: values[one.destination] for one in options if one.name not in (OUT.name, WORK.name)}
    return {"command": command} | {name: _plain(value) for name, value in named.items()}


def command_sentence(record: Mapping[str, Any]) -> str:
    """The sentence that a page says it with."""
    encoder = f", with the encoder `{_plain(record['encoder'])}`" if record.get("encoder") in USUAL_ENCODERS[1:] else ""
    return f"Made by\n`{record['command']}`{encoder}."


def encoder_title(encoder: str) -> str:
    """What a page calls an encoder."""
    name = Path(encoder).name
    return USUAL if name in USUAL_ENCODERS else name


def with_encoder(content: Any, encoder: str) -> Any:
    """A page, or a result in plain values, that calls the encoder by its name."""
    if encoder_title(encoder) == USUAL:
        return content
    if isinstance(content, str):
        return NAMED.sub(lambda _: encoder_title(encoder), content)
    if isinstance(content, Mapping):
        return {with_encoder(name, encoder): with_encoder(one, encoder) for name, one in content.items()}
    return [with_encoder(one, encoder) for one in content] if isinstance(content, list | tuple) else content


def _plain(value: object) -> object:
    return Path(value).name if isinstance(value, str | Path) and Path(value).is_absolute() else value
