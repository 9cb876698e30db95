"""Chats: messages as the tokenizer's own template writes them, with the characters of each message."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pellucid.base.checks import quoted, reason
from pellucid.base.errors import BadInput, ModelCannot, notify
from pellucid.models.classifiers.tokens import Tokenizer, tokenized
from pellucid.models.writing.tokenizing import SETTINGS, Piece, pieces_of
from pellucid.models.writing.tracks import WRITTEN
from pellucid.text.example import Example
from pellucid.text.passages import CHAT, Turn, turns_of
from pellucid.text.units import SPECIAL, trimmed

Message = Mapping[str, Any]  # "role", "content" and whatever else the template reads
MARK = "\ue000{}\ue001"  # stands for a message while its place is looked for; of characters that no text uses
ROLES = "system, user, assistant or tool"


def chat_example(
    tokenizer: Any,  # a fast tokenizer of the library
    messages: Sequence[Message],
    answer: str | None,
    id: str,
    name: str,
    template: Mapping[str, Any],
) -> Example:
    """The prompt that the tokenizer's template makes of the messages, and the answer, if there is one.

    Where the last message is the assistant's and there is no answer, it is the answer. template: further settings of
    `apply_chat_template`, such as tools and documents. name: what messages of errors call the model. Raises
    `ModelCannot` where the tokenizer has no template, `BadInput` for messages that the template refuses.
    """
    _check(messages, id)
    if getattr(tokenizer, "chat_template", None) is None:
        raise ModelCannot(f"The tokenizer of {name} has no chat template; give its prompt as one text, as it reads it.")
    if answer is None and len(messages) > 1 and messages[-1]["role"] == "assistant":
        messages, answer = messages[:-1], _one_text(messages[-1], id)
    prompt = _rendered(tokenizer, messages, id, template)
    turns = tuple(_turns(tokenizer, messages, prompt, id, template))
    example = Example(
        (prompt,) if answer is None else (prompt, answer),
        id=id,
        meta={CHAT: [[turn.role, turn.start, turn.end] for turn in turns]},
    )
    ids = tokenizer.apply_chat_template(list(messages), tokenize=True, return_dict=False, **_options(template))
    if list(ids) != list(_prompt_columns(tokenizer, prompt)["input_ids"]):
        raise ModelCannot(
            f"Example {quoted(id)}: the template of {name} gives other pieces than its own text has, so what is "
            f"explained would not be what the model reads."
        )
    return example


def _check(messages: Sequence[Message], id: str) -> None:
    if not messages:
        raise BadInput(f"Example {quoted(id)} is a chat without messages; give at least one.")
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str) or "content" not in message:
            raise BadInput(
                f"Example {quoted(id)}: message {index} is {quoted(message)}; give a role ({ROLES}) and a content."
            )


def _options(template: Mapping[str, Any]) -> dict[str, Any]:
    return {"add_generation_prompt": True, **template}


def _rendered(tokenizer: Any, messages: Sequence[Message], id: str, template: Mapping[str, Any]) -> str:
    try:
        return str(tokenizer.apply_chat_template(list(messages), tokenize=False, **_options(template)))
    except Exception as error:  # the template is the model's own program
        raise BadInput(
            f"Example {quoted(id)}: the model's template refuses these messages ({reason(error)}); it was given "
            f"{', '.join(str(message['role']) for message in messages)}."
        ) from None


def _texts(message: Message, id: str) -> list[str]:
    """The texts of a message; raises `BadInput` for pictures and sounds."""
    content = message["content"]
    if isinstance(content, str) or content is None:
        return [content] if content else []
    parts = content if isinstance(content, list | tuple) else [content]
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
    if len(texts) != len(parts) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f"Example {quoted(id)}: a message holds more than text; Pellucid explains texts alone.")
    return [str(text) for text in texts if text]


def _one_text(message: Message, id: str) -> str:
    return "".join(_texts(message, id))


def _turns(
    tokenizer: Any, messages: Sequence[Message], prompt: str, id: str, template: Mapping[str, Any]
) -> Iterator[Turn]:
    """Where each message stands in the prompt; a notice for those that the template changes or leaves out."""
    texts = [(str(message["role"]), text) for message in messages for text in _texts(message, id)]
    places = _marked_places(tokenizer, messages, prompt, id, template) or _places_in_order(prompt, texts)
    hidden = [role for (role, _), place in zip(texts, places, strict=True) if place is None]
    if hidden:
        notify(
            f"Example {quoted(id)}: the model's template does not show {len(hidden)} of {len(texts)} messages as they "
            f"were written ({', '.join(dict.fromkeys(hidden))}), so their words have no scores."
        )
    for (role, _), place in zip(texts, places, strict=True):
        if place is not None:
            yield Turn(role, *place)


Place = tuple[int, int] | None


def _marked_places(
    tokenizer: Any, messages: Sequence[Message], prompt: str, id: str, template: Mapping[str, Any]
) -> list[Place] | None:
    """The place of each text, found by a mark in its stead; None where the prompt then is another one."""
    count, texts = 0, []
    marked = []
    for message in messages:
        content = []
        for text in _texts(message, id):
            content.append({"type": "text", "text": MARK.format(count)})
            texts.append(text)
            count += 1
        plain = not isinstance(message["content"], list | tuple)
        marked.append({**message, "content": "".join(part["text"] for part in content) if plain else content})
    try:
        rest = _rendered(tokenizer, marked, id, template)
    except BadInput:
        return None
    places: list[Place] = []
    before_it = ""
    for index, text in enumerate(texts):
        before, mark, rest = rest.partition(MARK.format(index))
        before_it += before
        if not mark:
            return None
        shown = text if prompt.startswith(before_it + text) else text.strip()
        places.append((len(before_it), len(before_it) + len(shown)))
        before_it += shown
    return places if before_it + rest == prompt else None


def _places_in_order(prompt: str, texts: Sequence[tuple[str, str]]) -> list[Place]:
    """The place of each text after the one before; None where it is not there."""
    places: list[Place] = []
    after = 0
    for _, text in texts:
        shown = text.strip()
        start = prompt.find(shown, after)
        places.append(None if start < 0 or not shown else (start, start + len(shown)))
        after = after if places[-1] is None else start + len(shown)
    return places


# The pieces of a chat: those of the template's own text are special, so that no method takes them out.


def _prompt_columns(tokenizer: Tokenizer, prompt: str) -> Any:
    return tokenized(tokenizer, (prompt,), add_special_tokens=False, **SETTINGS)


def prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """The pieces of a prompt that the template before_it: it has written all special tokens itself."""
    return list(_prompt_columns(tokenizer, prompt)["input_ids"])


def chat_pieces(tokenizer: Tokenizer, example: Example) -> list[Piece]:
    """The pieces of the prompt, and those of the answer as they are by themselves: no blank is put between them."""
    prompt, turns = example.segments[0], turns_of(example)
    pieces = pieces_of(tokenizer, _prompt_columns(tokenizer, prompt), prompt, 0)
    labels = tokenizer.convert_ids_to_tokens([piece.id for piece in pieces])
    read = [_in_turn(piece, label, prompt, turns) for piece, label in zip(pieces, labels, strict=True)]
    if len(example.segments) == 1:
        return read
    answer = example.segments[1]
    written = pieces_of(tokenizer, _prompt_columns(tokenizer, answer), answer, 1, WRITTEN)
    return [*read, *(replace(piece, written=piece.id) for piece in written)]


def _in_turn(piece: Piece, label: str, prompt: str, turns: Sequence[Turn]) -> Piece:
    """A piece of a message with its characters there; a piece of the template's own text as a special one."""
    turn = next((turn for turn in turns if piece.start < turn.end and piece.end > turn.start), None)
    if turn is None:
        return Piece(piece.id, label, SPECIAL)
    start, end = trimmed(prompt, max(piece.start, turn.start), min(piece.end, turn.end))
    return replace(piece, label=prompt[start:end], start=start, end=end)
