"""The studio as a web application: an address becomes a visit, what its view returns becomes an answer."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import socket
from traceback import extract_tb
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import uvicorn
from anyio import fail_after
from h11 import IDLE
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from pellucid.base.checks import reason
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import views
from pellucid.base.memory import is_memory_error, not_enough_memory
from pellucid.explaining.commands.safe_text import say
from pellucid.studio.frame import SAVE, error_page, framed, report_of, stopped_page, waiting_page
from pellucid.studio.guards import (
    POST,
    READER,
    READS,
    Application,
    Receive,
    Scope,
    Send,
    StudioGuard,
    guarded,
    plain_page,
)
from pellucid.studio.record import Studio
from pellucid.studio.static_files import STATIC, static_file
from pellucid.studio.visit import Elsewhere, File, Page, Visit
from pellucid.studio.work import ReaderLeft, StillComputing

FIRST = "text"  # the view at the first address
BODY_BYTES, FIELDS = 200_000, 64  # of a form that is sent
BODY_SECONDS = 20.0  # that it may take to come
FORM = "application/x-www-form-urlencoded"
HEADER_BYTES = 32_768
CONNECTIONS = 400  # at once: fifty browsers, each with six, and some to spare
QUIET, HEAD_SECONDS = 15, 10.0  # seconds until a connection without a request, or without a whole head, is closed
YEAR = 31_536_000  # seconds


def application(studio: Studio, guard: StudioGuard) -> Application:
    """What answers requests to a studio, behind its guard."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await _response(studio, Request(scope, receive))
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    return guarded(answer, guard)


class _Refused(Exception):
    """A request that no view gets. status: of HTTP."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def _response(studio: Studio, request: Request) -> Response:
    parts = [unquote(part) for part in _raw_parts(request)]
    visit = Visit(studio, parts[0] or FIRST, tuple(parts[1:]), reader=request.scope[READER])
    try:
        if visit.view in STATIC and not visit.path:
            return _static(request, visit.view)
        _check_address(request, visit)
        form = await _form(request) if request.method == POST else None
        return await run_in_threadpool(_answer, replace(visit, query=_query(request), form=form))
    except _Refused as refused:
        allowed = {"allow": ", ".join((*READS, POST))} if refused.status == 405 else None
        return _page(error_page(visit, str(refused)), refused.status, allowed)


def _raw_parts(request: Request) -> list[str]:
    """The parts of the address between its strokes, still quoted, so that a part may contain one."""
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    return str(raw.decode("latin-1")).removeprefix("/").split("/")


def _check_address(request: Request, visit: Visit) -> None:
    if request.method not in (*READS, POST):
        raise _Refused(
            405, f"A page of the studio is read or gets a form; {reason(ValueError(request.method))} is neither."
        )
    if visit.view not in views or not all(part.strip(".") for part in visit.path):  # no name is "", "." or ".."
        raise _Refused(404, "There is no such page in the studio; begin at the first one.")
    try:
        for part in _raw_parts(request):
            unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise _Refused(400, "The address is not written in UTF-8; follow a link of the page.") from None


def _query(request: Request) -> dict[str, str]:
    pairs = _fields(request.scope["query_string"], "The address")
    return dict(reversed(pairs))  # of several of one name the first


async def _form(request: Request) -> dict[str, list[str]]:
    """The fields of a form; raises `_Refused` for one that is too large, before more of it is read."""
    kind, _, more = request.headers.get("content-type", "").lower().partition(";")
    if kind.strip() != FORM or more.replace(" ", "").replace('"', "") not in ("", "charset=utf-8"):
        raise _Refused(415, f"A form is sent as {FORM}, in UTF-8; send it from the page.")
    fields: dict[str, list[str]] = {}
    for name, value in _fields(await _body(request), "The form"):
        fields.setdefault(name, []).append(value)
    return fields


async def _body(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdecimal() and len(declared) < 16 and int(declared) <= BODY_BYTES):
        raise _too_large()
    body = bytearray()
    try:
        with fail_after(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_BYTES:
                    raise _too_large()
    except TimeoutError:
        raise _Refused(408, f"The form did not come within {BODY_SECONDS:.0f} seconds; send it again.") from None
    return bytes(body)


def _too_large() -> _Refused:
    return _Refused(413, f"The form is larger than {BODY_BYTES:,} bytes; shorten the text.")


def _fields(content: bytes, owner: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(content.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except UnicodeDecodeError:
        raise _Refused(400, f"{owner} is not written in UTF-8; send it from the page.") from None
    except ValueError:
        raise _Refused(413, f"{owner} has more than {FIELDS} fields; send it from the page.") from None


# A view's answer, in a thread of its own: views wait for a model's desk, and draw.


def _answer(visit: Visit) -> Response:
    try:
        return _answered(visit)
    except StillComputing as waiting:
        return _page(waiting_page(visit, waiting.job))
    except ReaderLeft:
        return _page(error_page(visit, "Nobody waited for this, so it was not computed; load the page again."), 400)
    except PellucidError as error:
        return _page(error_page(visit, str(error)), 400)
    except Exception as error:  # of the model's own code, or of ours: a page says it all the same
        return _page(_unexpected(visit, error), 422)


def _answered(visit: Visit) -> Response:
    if key := visit.field("stop"):
        for desk in visit.studio.desks.values():
            desk.stop(key, visit.reader)
        return _page(stopped_page(visit))
    result = views.get(visit.view).make(visit)
    if isinstance(result, Elsewhere):
        assert result.address.startswith(("./", "../", "?")), "an address that may lead out of the studio"
        return Response(status_code=303, headers={"location": result.address})
    if isinstance(result, Page) and result.of_report and visit.query.get(SAVE):
        result = report_of(result)
    if isinstance(result, File):
        headers = {"content-disposition": _saved_as(result.name)}
        return Response(result.content.encode(errors="replace"), 200, headers, "application/octet-stream")
    return _page(framed(visit, result))


def _page(html: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(html.encode(errors="replace"), status, headers, "text/html; charset=utf-8")


def _saved_as(name: str) -> str:
    """How a browser is told a file's name, without what a system could read as a path."""
    safe = "".join(sign if sign.isalnum() or sign in "-_. " else "-" for sign in name).lstrip(".- ")[-120:] or "file"
    plain = safe.encode("ascii", "replace").decode().replace("?", "-")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe)}"


def _unexpected(visit: Visit, error: Exception) -> str:
    """The page of an error that nobody foresaw. What is logged has no word of a text: the error's message may have."""
    frames = extract_tb(error.__traceback__)
    places = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-4:])
    say(f"The view {visit.view} ended with {type(error).__name__} at {places}; its page says more.", aside=True)
    if is_memory_error(error):
        return error_page(visit, str(not_enough_memory("answer this")))
    sentence = f"The answer could not be computed: {type(error).__name__}, {reason(error)}."
    try:
        return error_page(visit, sentence)
    except Exception:  # the page around it is what fails
        return plain_page(sentence)


# What every page loads besides: one style sheet and one script.


def _static(request: Request, name: str) -> Response:
    if request.method not in READS:
        raise _Refused(405, "This address is only read.")
    file = static_file(name)
    is_version = request.scope["query_string"] == f"v={file.digest}".encode()
    caching = {"cache-control": f"private, max-age={YEAR}, immutable"} if is_version else None
    return Response(file.content, headers=caching, media_type=file.media_type)


# Serving: uvicorn, in a thread, so that it works in a notebook too, where another loop runs already.


@contextmanager
def serving(answers: Application, listening: socket, tls: ssl.SSLContext | None = None) -> Iterator[threading.Event]:
    """Within it the application answers at a socket; gives an event that comes where the server cannot go on.

    The thread is not joined: an interruption of `join` marks one that still runs as ended (CPython 3.11).
    """
    server, ended = uvicorn.Server(_settings(answers, tls)), threading.Event()

    def run() -> None:
        try:
            server.run([listening])
        finally:
            ended.set()

    threading.Thread(target=run, name="studio server", daemon=True).start()
    while not (server.started or ended.wait(0.01)):
        pass
    try:
        yield ended
    finally:
        server.should_exit = True
        ended.wait(5)


class _Connection(H11Protocol):
    """A connection that is closed where a request's head does not come whole: uvicorn would wait without end."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        is_waiting = self.conn.their_state is IDLE and (self.cycle is None or self.cycle.response_complete)
        if is_waiting and self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        elif not is_waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _settings(answers: Application, tls: ssl.SSLContext | None) -> uvicorn.Config:
    # Nothing is logged: addresses and bodies hold texts.
    config: Any = {
        "http": _Connection,
        "ws": "none",
        "loop": "asyncio",
        "lifespan": "off",
        "log_config": None,
        "log_level": "critical",
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "limit_concurrency": CONNECTIONS,
        "timeout_keep_alive": QUIET,
        "timeout_graceful_shutdown": 1,
        "h11_max_incomplete_event_size": HEADER_BYTES,
    }
    if tls is not None:
        config["ssl_context_factory"] = lambda *_: tls
    return uvicorn.Config(answers, **config)  # type: ignore[arg-type]
