"""The door `open_studio`: models, runs and comparisons as pages to click through, at one address with its token."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pellucid.base.checks import in_syntax, listed, quoted, whole
from pellucid.base.errors import BadFile, BadInput, BadSetting, notify
from pellucid.base.files import disk_errors, place_of, possible_path
from pellucid.base.packages import optional_package
from pellucid.corpus.folder import JOB
from pellucid.corpus.record import Run
from pellucid.discovery.record import LearntConcepts
from pellucid.explaining.commands.safe_text import say
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import any_model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.explaining.read import table_at
from pellucid.results.table import TABLE_FILE, Table
from pellucid.run.model import Model
from pellucid.studio.guards import StudioGuard, guard_for
from pellucid.studio.record import Studio
from pellucid.studio.run_rows import read_ahead
from pellucid.text.label_map import LabelMap

PORT, HIGHEST_PORT = 8117, 65_535
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def open_studio(
    models: ModelSource | list[ModelSource],
    *,
    runs: Run | str | Path | Sequence[Run | str | Path] = (),
    comparisons: Table | str | Path | Sequence[Table | str | Path] = (),
    learnt: LearntConcepts | str | Path | Sequence[LearntConcepts | str | Path] = (),
    data: Data | None = None,
    data_name: str | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    split: str = "test",
    skip_bad_rows: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
    behind_proxy: str | None = None,
) -> None:
    """Serve models as pages: type a text, change or hide a word, and see the answer and what each method says; until
    Ctrl-C. Needs the extra `studio`.

    models: one as in `explain`, or a list of them.
    runs: stored runs of these models, from `explain_corpus`, by folder or address; or a folder of such folders, of
        which those of other models are left out. A run that cannot be read, such as one of an earlier version, is left
        out with the reason.
    comparisons: what `compare` saved of these models, a table, its file or its folder: pages then say first how far a
        method can be believed.
    learnt: what `find_concepts` returned of these models, or its folder: cards, and the concepts of each text.
    data: labelled texts, with which the studio measures methods where nothing was measured.
    data_name: what pages call them; None: their name or path.
    text, label, label_map, split, skip_bad_rows: how they are read, as in `compare` and `explain_corpus`.
    host: the address to serve at. Another one than 127.0.0.1 needs a certificate or behind_proxy.
    port: 1 to 65,535, or 0 for a free one; None: 8117, or a free one where that is in use.
    certificate, key: files in PEM, for https; None: http, or for the key, that the certificate's file holds it.
    behind_proxy: where a proxy lets readers reach it, such as "https://example.org/studio"; without a scheme https.

    Prints its address, which ends in a token that is new each time: whoever has it may ask the models. Nothing is
    changed on disk. Raises `BadSetting` for a port in use and a host that would be reached unencrypted, `BadInput`
    where there is no model and for a run of another one, `BadFile` for folders without a run or table.

    >>> pellucid.open_studio("my-classifier", runs="runs/reviews", host="192.168.0.7")
    Traceback (most recent call last):
    pellucid.base.errors.BadSetting: host=192.168.0.7 can be reached from other machines, unencrypted; give
        certificate= with its key, or behind_proxy=, or leave the host away.
    """
    for package in ("starlette", "uvicorn"):
        optional_package(package)
    site = _site(host, port, certificate, key, behind_proxy)
    with site.listening:
        (stored, refused), tables = _runs(runs), [_table(comparison) for comparison in _several(comparisons)]
        concepts = [_concepts(each) for each in _several(learnt)]
        loaded = _loaded(models)
        named: dict[str, Model] = {}
        for model in loaded:
            named[_distinct(model.name, named)] = model
        columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "split": split}
        examples: Sequence[Any] = ()
        if data is not None:
            examples = examples_for(loaded[0], data, names_data=True, skip_bad_rows=skip_bad_rows, **columns)
        name = data_name or (str(data) if isinstance(data, str | Path) else "the data")
        digests = {model.hash for model in loaded} if stored or tables or concepts else set()
        of_models, by_model = _of_models(stored, digests), _by_model(tables, digests)
        studio = Studio(named, of_models, by_model, examples, name, refused=refused, learnt=_learnt(concepts, digests))
        try:
            _serve(studio, site)
        finally:
            studio.close()


def _serve(studio: Studio, site: _Site) -> None:
    from pellucid.studio.server import application, serving  # an extra

    read_ahead(studio)
    with serving(application(studio, site.guard), site.listening, site.tls) as ended:
        say(site.address)
        say("The studio is open there for whoever has this address; Ctrl-C ends it.", aside=True)
        try:
            while not ended.wait(1):  # an endless wait could not be interrupted on Windows
                pass
        except KeyboardInterrupt:
            say("The studio is closed.", aside=True)
            return
    raise BadSetting("The server could not go on; open the studio again.")


# What is open.


def _several(sources: Any) -> list[Any]:
    return list(sources) if isinstance(sources, list | tuple) else [sources]


def _loaded(models: Any) -> list[Model]:
    sources = models if isinstance(models, list) else [models]
    if not sources:
        raise BadInput("There is no model to open; name the folder of one, or its name on the hub.")
    return [any_model_from(source) for source in sources]


@dataclass(frozen=True)
class _StoredRun:
    """A run; is_named: by itself, not as one of a folder."""

    run: Run
    is_named: bool


def _runs(sources: Any) -> tuple[list[_StoredRun], dict[str, str]]:
    """The runs; and of those that cannot be read, such as runs of an earlier version, the reason by name."""
    runs: list[_StoredRun] = []
    refused: dict[str, str] = {}
    for source in _several(sources):
        if isinstance(source, Run):
            runs.append(_StoredRun(source, True))
            continue
        path = place_of(source)
        if not isinstance(path, Path):
            runs.append(_StoredRun(Run(path), True))
            continue
        with disk_errors("read", path):
            folders = sorted(job.parent for job in path.glob(f"*/{JOB}"))
        is_named = (path / JOB).is_file() or not folders
        for folder in [path] if is_named else folders:
            try:
                runs.append(_StoredRun(Run(folder), is_named))
            except BadFile as error:
                if not (folder / JOB).is_file():
                    raise
                refused[_distinct(folder, refused)] = str(error)
                notify(f"Left out: {error}")
    return runs, refused


def _of_models(stored: Iterable[_StoredRun], digests: set[str]) -> dict[str, Run]:
    """The runs of the open models, by distinct names; raises `BadInput` for one of another model that was named."""
    runs: dict[str, Run] = {}
    left_out: list[str] = []
    for each in stored:
        question, title = each.run.job.question, each.run.folder.title
        if question.get("weights") in digests:
            runs[_distinct(title, runs)] = each.run
        elif each.is_named:
            raise BadInput(
                f"{title} is a run of {question.get('model')}, with other weights than the open models have; name that "
                f"model too, or leave the run away."
            )
        else:
            left_out.append(each.run.path.name)
    if left_out:
        notify(f"Left out, as runs of other models: {listed(left_out)}.")
    return runs


def _distinct(path: str | Path, names: Iterable[str]) -> str:
    """A name of a model or run for pages and addresses, where a stroke or ".." would be read as a path: of a folder or
    name on the hub its last part, with a count where it is there already.
    """
    name = str(path).encode(errors="replace").decode().replace("\\", "/").rstrip("/").rpartition("/")[2]
    if not name.strip(". "):
        name = Path(path).resolve().name or "model"
    count, distinct = 2, name
    while distinct in names:
        distinct, count = f"{name} ({count})", count + 1
    return distinct


def _table(source: Any) -> Table:
    if isinstance(source, Table):
        return source
    path = possible_path(source)
    table = table_at(path / TABLE_FILE if path.is_dir() else path)
    if table is None:
        raise BadFile(f"{path} holds no table of a finished comparison; give what pellucid compare saved.")
    return table


def _by_model(tables: Iterable[Table], digests: set[str]) -> dict[str, Table]:
    """Digest -> what was measured of the model; raises `BadInput` for a table of another model, or two of one."""
    by_model: dict[str, Table] = {}
    for table in tables:
        digest, model = str(table.about.get("model_hash")), table.about.get("model")
        if digest not in digests:
            raise BadInput(
                f"A comparison is of {model}, with other weights than the open models have; name that model too, or "
                f"leave the comparison away."
            )
        if digest in by_model:
            raise BadInput(f"Two comparisons of {model} were named, and pages show one; leave one away.")
        by_model[digest] = table
    return by_model


def _concepts(source: Any) -> LearntConcepts:
    return source if isinstance(source, LearntConcepts) else LearntConcepts.read(source)


def _learnt(concepts: Iterable[LearntConcepts], digests: set[str]) -> dict[str, LearntConcepts]:
    """Digest -> the model's concepts; raises `BadInput` for those of another model, or two of one."""
    by_model: dict[str, LearntConcepts] = {}
    for learnt in concepts:
        if learnt.model_hash not in digests:
            raise BadInput(
                f"Learnt concepts are of {learnt.model}, with other weights than the open models have; name that model "
                f"too, or leave the concepts away."
            )
        if learnt.model_hash in by_model:
            raise BadInput(f"Concepts of {learnt.model} were named twice, and pages show one folder; leave one away.")
        by_model[learnt.model_hash] = learnt
    return by_model


# Where it is reached.


@dataclass(frozen=True)
class _Site:
    """address: what a reader opens, with the token. listening: a socket that is bound. tls: None for http."""

    address: str
    guard: StudioGuard
    listening: socket.socket
    tls: ssl.SSLContext | None


def _site(
    host: str, port: int | None, certificate: str | Path | None, key: str | Path | None, behind_proxy: str | None
) -> _Site:
    """Raises `BadSetting` for what would be reached unencrypted, and for a port in use."""
    public = None if behind_proxy is None else _public_address(behind_proxy)
    if not (_is_loopback(host) or certificate or public):
        raise BadSetting(
            f"{in_syntax('host=', '--host ')}{host} can be reached from other machines, unencrypted; give "
            f"{in_syntax('certificate=', '--certificate')} with its key, or "
            f"{in_syntax('behind_proxy=', '--behind-proxy')}, or leave the host away."
        )
    if public is None and host in ("0.0.0.0", "::", ""):
        raise BadSetting(
            f"{in_syntax('host=', '--host ')}{host} is every address of this machine; name the one that readers "
            f"open, or {in_syntax('behind_proxy=', '--behind-proxy')}."
        )
    tls = _tls(certificate, key)
    listening = _bound(host, port)
    actual, scheme = listening.getsockname()[1], "http" if tls is None else "https"
    written = f"[{host}]" if ":" in host else host
    addresses = [f"{scheme}://{name}:{actual}" for name in dict.fromkeys((written, *LOOPBACK))]
    path = "/" if public is None else f"{urlsplit(public).path.rstrip('/')}/"
    guard = guard_for(addresses if public is None else [public, *addresses], path)
    base = addresses[0] if public is None else public.rstrip("/")
    return _Site(f"{base}/?token={guard.token}", guard, listening, tls)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _public_address(written: str) -> str:
    """The address with its scheme; raises `BadSetting` for anything else than https, but on this machine itself."""
    address = written if "://" in written else f"https://{written}"
    option = f"{in_syntax('behind_proxy=', '--behind-proxy ')}{quoted(written)}"
    try:
        parts = urlsplit(address)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    is_plain = is_complete and not (parts.query or parts.fragment or "@" in parts.netloc)
    if not is_plain or not address.isascii() or not address.isprintable() or set(address) & set(" ;,\"'\\"):
        raise BadSetting(f"{option} is no address of a proxy; give one such as https://example.org/studio.")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(str(parts.hostname))):
        raise BadSetting(f"{option} would be reached unencrypted; let the proxy answer by https.")
    return address


def _tls(certificate: str | Path | None, key: str | Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        if key is not None:
            raise BadSetting(f"A key came without its certificate; add {in_syntax('certificate=', '--certificate')}.")
        return None
    certificate, key = possible_path(certificate), None if key is None else possible_path(key)
    files = [path for path in (certificate, key) if path is not None]
    for path in files:
        if not path.is_file():
            raise BadFile(f"There is no file {path}; give the certificate and its key, in PEM.")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, lambda: "")  # no password: OpenSSL would ask at the terminal
    except OSError:  # what OpenSSL raises, too
        raise BadFile(
            f"{listed(map(str, files))}: no certificate with its own key, in PEM and without a password; give both "
            f"files."
        ) from None
    return context


def _bound(host: str, port: int | None) -> socket.socket:
    """A socket at the port; None: the usual one, or a free one."""
    if port is not None:
        return _bound_at(host, whole(in_syntax("port", "--port"), port, 0, HIGHEST_PORT))
    try:
        return _bound_at(host, PORT)
    except BadSetting:
        return _bound_at(host, 0)


def _bound_at(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise BadSetting(f"This machine has no address {quoted(host)}; leave the host away, or name another.") from None
    try:
        if os.name == "posix":  # elsewhere it would share the port with whoever has it
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen()
    except OSError as error:
        listening.close()
        raise BadSetting(
            f"Port {port} of {host} cannot be used ({error.strerror}); give another one, or 0 for a free one."
        ) from None
    return listening
