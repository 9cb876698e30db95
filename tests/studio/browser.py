"""Requests to a studio without a socket: the application gets what a server would hand it, and its answers are read."""

import asyncio
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import quote, urlsplit

from pellucid.studio.guards import guard_for
from pellucid.studio.server import application

HOST = "127.0.0.1:8117"
ADDRESS = f"http://{HOST}"
SENT = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}


@dataclass(frozen=True)
class Answer:
    """What came back. headers: by name, of several of one name the last. read: how many parts of the body were read."""

    status: int
    headers: dict[str, str]
    content: bytes
    read: int

    @property
    def html(self):
        return self.content.decode()

    @property
    def cookie(self):
        return self.headers["set-cookie"].partition(";")[0]


class Browser:
    """Sends requests to a studio; keeps no cookie by itself."""

    def __init__(self, studio, addresses=(ADDRESS,), path="/"):
        self.guard = guard_for(addresses, path)
        self.answers = application(studio, self.guard)

    def entrance(self, reader="reader"):
        """The headers of a reader who came in."""
        return {"cookie": f"{self.guard.cookie}={self.guard.pass_for(reader)}"}

    async def ask(self, method, target, headers=None, body=b"", size=65_536):
        """The answer to a request; target: path and query, bytes or text. size: bytes that come at once."""
        raw, _, query = (target if isinstance(target, bytes) else quote(target, safe="/?&=%+.-_~").encode()).partition(
            b"?"
        )
        pairs = {"host": HOST, **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "scheme": "http",
            "path": raw.decode("latin-1"),
            "raw_path": raw,
            "query_string": query,
            "headers": [(key.encode(), str(value).encode("utf-8", "surrogateescape")) for key, value in pairs.items()],
        }
        parts = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
        reads, messages = iter(range(1, len(parts) + 1)), []
        read = 0

        async def receive():
            nonlocal read
            await asyncio.sleep(0)
            read = next(reads)
            return {"type": "http.request", "body": parts[read - 1], "more_body": read < len(parts)}

        async def send(message):
            messages.append(message)

        await self.answers(scope, receive, send)
        return _answer(messages, read)

    def now(self, *request, **more):
        """As `ask`, outside a loop."""
        return asyncio.run(self.ask(*request, **more))


def _answer(messages, read):
    first, *rest = messages
    headers = {key.decode(): value.decode("latin-1") for key, value in first["headers"]}
    return Answer(first["status"], headers, b"".join(message.get("body", b"") for message in rest), read)


class Markup(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]

    def handle_data(self, data):
        self.text.append(data)


NEVER = {"iframe", "object", "embed", "base", "img", "style", "applet", "frame", "video", "audio", "xmp"}


def check_page(page):
    """No script but ours, nothing that runs, and no address that leads out."""
    markup = Markup(page)
    assert not NEVER & set(markup.tags), NEVER & set(markup.tags)
    for tag, key, value in markup.attributes:
        assert not key.startswith("on") and key not in ("style", "srcdoc"), (tag, key, value)
        if key in ("href", "src", "action", "formaction"):
            parts = urlsplit(value)
            assert not parts.scheme and not parts.netloc and not value.startswith(("/", "\\")), value
    scripts = [value for tag, key, value in markup.attributes if (tag, key) == ("script", "src")]
    assert len(scripts) == markup.tags.count("script") <= 1
    assert all(value.partition("?")[0].rpartition("/")[2] == "studio.js" for value in scripts)
    return markup
