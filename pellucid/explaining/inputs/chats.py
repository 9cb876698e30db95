"""Chats from what users have: messages, rows of messages and an answer, tables with a column of messages, and files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from pellucid.base.checks import listed_members, quoted
from pellucid.base.errors import BadFile, BadInput, ModelCannot
from pellucid.base.files import disk_errors, read_text
from pellucid.base.json_text import parsed
from pellucid.explaining.inputs.readings import plain
from pellucid.explaining.inputs.rows import table_columns
from pellucid.models.writing.chat import Message, chat_example
from pellucid.run.model import WRITING, Model
from pellucid.text.example import Example, prompted

COLUMNS = ("messages", "conversation", "conversations")  # names of the column that holds them
FIELDS = ("tools", "documents")  # of a row, that the template reads
Template = Mapping[str, Any]


@dataclass(frozen=True)
class Chat:
    """Messages, the answer to them, if there is one, and what else the template reads."""

    messages: Sequence[Message]
    answer: str | None = None
    id: str | None = None
    template: Template = field(default_factory=dict)


def is_messages(value: Any) -> bool:
    """Whether something is a list of messages, each with a role."""
    # An iterator may be read only once, and that is not done here.
    members = listed_members(value) if isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1 else None
    return bool(members) and all(isinstance(each, Mapping) and "role" in each for each in members or ())


def _messages(value: Any) -> list[Any]:
    return list(listed_members(value) or ())


def chats_in(data: Any) -> list[Chat] | None:
    """The chats that some data are; None for data of another kind."""
    if isinstance(data, PurePath):
        return chats_of_file(Path(data)) if _begins_with_chat(Path(data)) else None
    if is_messages(data):
        return [Chat(_messages(data))]
    if isinstance(data, tuple) and len(data) == 2 and is_messages(data[0]):
        return [_row(data)]
    if isinstance(data, str | bytes | Example) or not hasattr(data, "__iter__"):
        return None
    if _has_column(data) and (columns := table_columns(data)) is not None:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return [_record(row) for row in rows] if rows and _is_record(rows[0]) else None
    members = list(data) if isinstance(data, list | tuple) else []
    rows_of_chats = [is_messages(each) or _is_row(each) or _is_record(each) for each in members]
    return [_row(each) for each in members] if members and all(rows_of_chats) else None


def _has_column(data: Any) -> bool:
    """Whether a table names a column of chats, which then may hold texts as well; its values are not read here."""
    names = data.keys() if isinstance(data, Mapping) else getattr(data, "column_names", getattr(data, "columns", ()))
    return any(name in list(map(str, names)) for name in COLUMNS)


def _is_row(row: Any) -> bool:
    return isinstance(row, tuple | list) and len(row) == 2 and is_messages(row[0]) and isinstance(row[1], str)


def _is_record(row: Any) -> bool:
    return isinstance(row, Mapping) and any(is_messages(row.get(name)) for name in COLUMNS)


def _row(row: Any) -> Chat:
    if isinstance(row, Mapping):
        return _record(row)
    if is_messages(row):
        return Chat(_messages(row))
    messages, answer = row
    if not isinstance(answer, str):
        raise BadInput(f"The answer to a chat came as {quoted(answer)}; give a string, or no answer.")
    return Chat(_messages(messages), answer)


def _record(row: Mapping[str, Any]) -> Chat:
    """A row of a table: its messages, and its answer, id, tools and documents where it has them."""
    name = next(name for name in COLUMNS if name in row)  # `_is_record` has seen such a column in the first row
    messages = row[name]
    if not is_messages(messages):
        raise BadInput(f"A row of {quoted(name)} is {quoted(messages)}; give a list of messages, each with a role.")
    answer, id = plain(row.get("answer")), row.get("id")
    template = {field: row[field] for field in FIELDS if row.get(field) is not None}
    return Chat(
        _messages(messages),
        answer if isinstance(answer, str) else None,
        None if id is None else str(id),
        template,
    )


def chats_of_file(path: Path) -> list[Chat]:
    """The chats of a file: JSON lines, each a list of messages or an object with "messages"; or one such value."""
    text = read_text(path)
    whole = _value(text)
    values = [_value(line) for line in text.split("\n") if line.strip()] if whole is None else [whole]
    read = [chats_in([value] if isinstance(value, Mapping) else value) for value in values]
    if not read or None in read:
        raise BadFile(
            f"{path} does not hold chats; give a line for each: a list of messages, or an object with messages and, "
            f"where there is one, an answer."
        )
    return [chat for chats in read for chat in chats or ()]


def _value(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        return parsed(text)
    except ValueError:
        return None


def _begins_with_chat(path: Path) -> bool:
    """Whether a file's first line of JSON is a chat."""
    if path.suffix not in (".json", ".jsonl") or not path.is_file():
        return False
    with disk_errors("read", path), path.open(encoding="utf-8-sig", errors="replace") as file:
        value = _value(file.readline())
    return is_messages(value) or _is_record(value)


def chat_examples(model: Model, chats: Sequence[Chat], answer: Any, template: Template | None) -> tuple[Example, ...]:
    """The example of each chat by the model's own template; raises `BadInput` for a model that reads no chats."""
    if WRITING not in model.capabilities:
        raise BadInput(f"The texts came as messages of a chat, and {model.name} classifies texts; give texts.")
    writing: Any = model
    if writing.has_encoder:
        raise ModelCannot(f"{model.name} has an encoder and reads no chats; give its source as a text.")
    examples = []
    for index, (chat, own_answer) in enumerate(zip(chats, answers_to(answer, len(chats)), strict=True)):
        id = str(index) if chat.id is None else chat.id
        settings = {**(template or {}), **chat.template}
        written = chat.answer if own_answer is None else own_answer
        examples.append(chat_example(writing.tokenizer, chat.messages, written, id, model.name, settings))
    return tuple(examples)


def with_answers(examples: Sequence[Example], answer: Any) -> tuple[Example, ...]:
    """Prompts with their answers, of a model that writes."""
    pairs = zip(examples, answers_to(answer, len(examples)), strict=True)
    return tuple(
        prompted((example.segments[0], text), example.label, example.rationales, example.id, example.meta)
        for example, text in pairs
        if text is not None
    )


def answers_to(answer: Any, count: int) -> Iterator[str | None]:
    """An answer for each of so many texts; None where none came."""
    if answer is None:
        yield from [None] * count
        return
    members = [answer] if isinstance(answer, str) else listed_members(answer)
    if not members or not all(isinstance(each, str) and each for each in members) or len(members) != count:
        raise BadInput(f"answer={quoted(answer)} does not fit {count:,} texts; give one string a text.")
    yield from map(str, members)
