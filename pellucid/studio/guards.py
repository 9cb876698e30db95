"""Who may ask a studio: a token, the hosts and origins that it answers, and the headers of every answer.

Other users of the machine reach a port of it, and so do pages of strangers in a reader's browser: by forms, and by a
host name of theirs that they point at 127.0.0.1 ("rebinding"). So everything is behind a token, whatever the address.
"""

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from pellucid.drawing.html import element, name

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN, READER = "token", "pellucid.reader"  # in an address; in the scope that the studio gets
ADDRESS_BYTES = 8_000  # of a path with its query
READS, POST = ("GET", "HEAD"), "POST"
DEFAULT_PORTS = {"http": "80", "https": "443"}

# `trusted-types 'none'` beside `require-trusted-types-for`: no text becomes markup, and no policy that could make it
# so can be created, not even one called "default".
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
SIGN_IN = "Open the address that the studio printed when it began: it ends in a token, which is new with every start."


class Refusal(NamedTuple):
    """Why a request is not answered. status: of HTTP."""

    status: int
    sentence: str


@dataclass(frozen=True)
class StudioGuard:
    """Who may ask a studio.

    hosts: what a browser may call it, name and port, such as "127.0.0.1:8117"; the port that is usual for the scheme is
    left away. origins: where forms may come from, such as "http://127.0.0.1:8117". path: under which the studio lies.
    token: what a reader must know; a new one, where none is named.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    path: str = "/"
    token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it encrypted."""
        return any(origin.startswith("https:") for origin in self.origins)

    @property
    def cookie(self) -> str:
        """The cookie's name: of each studio another one, since all ports of a host share their cookies."""
        return f"pellucid-{self._signature('cookie')[:12]}"

    def pass_for(self, reader: str) -> str:
        """The cookie's value: a reader's name, and what only this studio could sign it with."""
        return f"{reader}.{self._signature(reader)}"

    def reader(self, cookies: Iterable[str]) -> str:
        """The name that a signed cookie gives; "" where no cookie does."""
        pairs = (pair.strip().partition("=") for header in cookies for pair in header.split(";"))
        for reader, _, signature in (value.partition(".") for key, _, value in pairs if key == self.cookie):
            if hmac.compare_digest(signature.encode(), self._signature(reader).encode()):
                return reader
        return ""

    def knows(self, token: str) -> bool:
        """Whether it is the token; takes as long for any other of its length."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _signature(self, text: str) -> str:
        return hmac.new(self.token.encode(), text.encode(), "sha256").hexdigest()


def guard_for(addresses: Sequence[str], path: str = "/") -> StudioGuard:
    """The guard of a studio that lies at these addresses, such as "https://example.org"; path: there."""
    parts = [urlsplit(address) for address in addresses]
    netlocs = [part.netloc.lower().removesuffix(f":{DEFAULT_PORTS.get(part.scheme)}") for part in parts]
    origins = frozenset(f"{part.scheme}://{netloc}" for part, netloc in zip(parts, netlocs, strict=True))
    return StudioGuard(frozenset(netlocs), origins, path)


def guarded(application: Application, guard: StudioGuard) -> Application:
    """The application behind its guard; what comes through has the reader's name in its scope."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no websocket, and nothing to do when a server begins
            return
        send = _with_headers(send)
        headers = _Headers(scope)
        token = _token(scope)
        if refusal := _refused(guard, scope, headers, token):
            await _send_page(send, refusal)
        elif token is not None:
            await _let_in(guard, scope, headers, send)
        else:
            await application({**scope, READER: guard.reader(headers.every("cookie"))}, receive, send)

    return answer


class _Headers:
    """The headers of a request, as text."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = [(key.lower().decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"]]

    def every(self, key: str) -> list[str]:
        """All values under a name."""
        return [value for each, value in self._pairs if each == key]

    def single(self, key: str) -> str | None:
        """The value under a name; None where it is missing, or came twice."""
        values = self.every(key)
        return values[0].strip() if len(values) == 1 else None


def _token(scope: Scope) -> str | None:
    pairs = parse_qsl(scope["query_string"][:ADDRESS_BYTES].decode("latin-1"), keep_blank_values=True)
    return next((value for key, value in pairs if key == TOKEN), None)


def _refused(guard: StudioGuard, scope: Scope, headers: _Headers, token: str | None) -> Refusal | None:
    """Why a request is refused; None for one that is answered."""
    host = (headers.single("host") or "").lower()
    if guard.hosts.isdisjoint({host, *(host.removesuffix(f":{port}") for port in DEFAULT_PORTS.values())}):
        return Refusal(421, "The studio does not answer under this name; open the address that it printed.")
    if len(_raw_path(scope)) + len(scope["query_string"]) > ADDRESS_BYTES:
        return Refusal(414, f"The address is longer than {ADDRESS_BYTES:,} characters; follow a link of the page.")
    if token is not None:
        if scope["method"] in READS and guard.knows(token):
            return None
        return Refusal(403, f"This is not the token of this studio. {SIGN_IN}")
    if not guard.reader(headers.every("cookie")):
        return Refusal(403, f"Nobody is let in without the token. {SIGN_IN}")
    if _is_foreign(guard, scope["method"], headers):
        return Refusal(403, "This request came from another page; open the studio, and ask it there.")
    return None


def _is_foreign(guard: StudioGuard, method: str, headers: _Headers) -> bool:
    """Whether another site's page sent the request.

    Browsers write "null" as the origin of a form where a page sends no referrer, as ours: then only Sec-Fetch-Site
    says where it came from, which no page can set.
    """
    site, origin = headers.single("sec-fetch-site"), headers.single("origin")
    if method in READS:
        return site in ("cross-site", "same-site") and headers.single("sec-fetch-mode") != "navigate"
    if method != POST:
        return False  # refused later, whoever sends it
    if len(headers.every("origin")) > 1 or (site is not None and site != "same-origin"):
        return True
    if origin is None or origin == "null":
        return site is None
    return origin.lower() not in guard.origins


def _raw_path(scope: Scope) -> bytes:
    return bytes(scope.get("raw_path") or quote(scope["path"]).encode())


async def _let_in(guard: StudioGuard, scope: Scope, headers: _Headers, send: Send) -> None:
    """Give the cookie, and lead to the address without the token.

    A browser that came from another site's link sends no strict cookie until a page of ours leads on.
    """
    reader = guard.reader(headers.every("cookie")) or token_urlsafe(12)
    cookie = f"{guard.cookie}={guard.pass_for(reader)}; Path={guard.path}; HttpOnly; SameSite=Strict"
    rest = [part for part in scope["query_string"].split(b"&") if part.partition(b"=")[0] != TOKEN.encode()]
    place = quote(_raw_path(scope).rpartition(b"/")[2], safe="%~")
    query = quote(b"&".join(filter(None, rest)), safe="%&=+,~")
    address = f"./{place}{'?' if query else ''}{query}"
    fields = {"set-cookie": f"{cookie}{'; Secure' if guard.is_secure else ''}"}
    if headers.single("sec-fetch-site") == "cross-site":
        refusal, fields["refresh"] = Refusal(200, "The studio opens in a second."), f"1; url={address}"
    else:
        refusal, fields["location"] = Refusal(303, "The studio is elsewhere."), address
    await _send_page(send, refusal, fields)


async def _send_page(send: Send, refusal: Refusal, headers: dict[str, str] | None = None) -> None:
    page = plain_page(refusal.sentence).encode()
    fields = {"content-type": "text/html; charset=utf-8", "content-length": str(len(page)), **(headers or {})}
    pairs = [(key.encode(), value.encode("latin-1")) for key, value in fields.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": page})


def plain_page(sentence: str) -> str:
    """A page with one sentence and nothing of the studio."""
    head = element("head", element("meta", charset="utf-8"), element("title", "Pellucid"))
    main = element("main", element("h1", "Pellucid"), element("p", name(sentence)))
    return f"<!doctype html>\n{element('html', head, element('body', main), lang='en')}\n"


def _with_headers(send: Send) -> Send:
    """Sending, with the headers of every answer; one that the answer has already stays."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {key.lower() for key, _ in message["headers"]}
            more = [(key.encode(), value.encode()) for key, value in HEADERS.items() if key.encode() not in names]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return with_headers
