"""The studio answers whatever comes: within bounds, never with status 500, without running or opening anything, and
with nothing of a stranger's text as markup.
"""

import asyncio
import random
import re
import resource
import sys
import sysconfig
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from urllib.parse import quote, urlencode

import pytest

import pellucid
from pellucid.base.kinds import views
from pellucid.studio import server
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.server import BODY_BYTES, FIELDS
from pellucid.studio.static_files import static_file
from pellucid.studio.visit import Elsewhere, File
from pellucid.studio.work import ended
from tests.studio.browser import HOST, SENT, Browser, check_page

MARKUP = "<x-evil onload=alert(1) style=x>\"'><script>alert(2)</script></textarea></title>&lt;b&gt;"
SPECIAL = (
    "",
    " ",
    "\0",
    "\ud800",
    "%",
    "%2e%2e",
    "../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "javascript:1",
)
SPECIAL += (
    "'; attach '/etc/passwd' as x; --",
    "{{7*7}}",
    "${7*7}",
    "a" * 5_000,
    "\r\nset-cookie: x=y",
    "\u202e",
    MARKUP,
)


def answer(texts):
    return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A studio whose models, classes and runs have names of strangers."""
    first = pellucid.from_function(answer, [MARKUP, "good & <b>"], name=f"model {MARKUP}")
    second = pellucid.from_function(answer, ["bad", "good"], name="second%2e?#&")
    path = tmp_path_factory.mktemp("runs") / "run <x-evil> & %2f"
    texts = ["A good film.", MARKUP, "Dull."]
    run = pellucid.explain_corpus(first, texts, "occlusion", folder=path, progress=False)
    table = pellucid.compare(first, texts, ["occlusion"], ["comprehensiveness"], progress=False)
    examples = pellucid.examples("pocket", "dev")[:3]
    studio = Studio(
        {first.name: first, second.name: second}, {f"run {MARKUP}": run}, {first.hash: table}, examples, MARKUP
    )
    yield studio
    studio.close()
    assert ended(60), "it still computes"


FIELD_NAMES = (
    "model text second method target hidden answer chat page word place with label error sort other before attack "
    "replacement data texts methods do caution confidence key row save"
).split()


class Requests:
    """Generated requests: each is one that is answered, with a few of its parts changed at random."""

    def __init__(self, studio, browser, seed):
        self.studio, self.browser, self.random = studio, browser, random.Random(seed)
        self.texts = {
            model: [
                studio.requests.add(TextRequest(model, (f"A good {MARKUP} film {n}.",), ("occlusion",))) for n in (1, 2)
            ]
            for model in studio.models
        }

    def is_changed(self, share=0.15):
        return self.random.random() < share

    def word(self):
        keys = [key for each in self.texts.values() for key in each]
        names = [
            *self.studio.models,
            *self.studio.runs,
            *keys,
            "occlusion",
            "predicted",
            "good",
            "0",
            "1",
            "3,1",
            "measure",
        ]
        return self.random.choice([*names, *SPECIAL])

    def pairs(self):
        names = [*FIELD_NAMES, MARKUP, ""]
        return [(self.random.choice(names), self.word()) for _ in range(self.random.choice((0, 1, 2, 5)))]

    def target(self):
        model = self.random.choice([*self.studio.models])
        first, second = self.texts[model]
        whole = {"trust": [model], "run": [*self.studio.runs], "twin": [first, second], "": []}
        view = self.random.choice([*views.names(), ""])
        parts = [view, *whole.get(view, self.random.choice(([first], [])))]
        if self.is_changed():
            parts[0] = self.random.choice(["nowhere", "style.css", "studio.js", *views.names(), *SPECIAL])
        if self.is_changed():
            parts[1:] = [self.word() for _ in range(self.random.choice((0, 1, 2, 5)))]
        query = _form(self.pairs()).decode() if self.is_changed(0.4) else ""
        return f"/{'/'.join(map(_quoted, parts))}{'?' if query else ''}{query}".encode()

    def headers(self):
        headers = {**self.browser.entrance(self.random.choice("abc")), **SENT}
        if self.is_changed():
            name = self.random.choice(["cookie", "host", "origin", "sec-fetch-site", "content-type", "content-length"])
            values = [
                "",
                "null",
                "http://evil.example",
                "evil.example",
                "cross-site",
                "text/plain",
                "-1",
                "9" * 30,
                "é",
                HOST,
            ]
            headers[name] = self.random.choice(values)
        return headers

    def body(self):
        text = self.word() if self.is_changed(0.5) else "A good film."
        body = _form(
            [
                ("model", self.random.choice([*self.studio.models])),
                ("text", text),
                *(self.pairs() if self.is_changed(0.4) else ()),
            ]
        )
        if self.is_changed(0.05):
            return body + b"&" + b"a" * self.random.choice((BODY_BYTES, BODY_BYTES + 1, 3 * BODY_BYTES))
        if self.is_changed(0.05):
            return self.random.randbytes(300)
        return body + b"&a=b" * FIELDS if self.is_changed(0.05) else body

    def request(self):
        method = self.random.choice(["GET", "GET", "GET", "POST", "POST", "HEAD"])
        if self.is_changed(0.1):
            method = self.random.choice(["PUT", "DELETE", "OPTIONS", "TRACE", "<b>"])
        return method, self.target(), self.headers(), self.body() if method == "POST" else b""


def _quoted(part):
    return quote(part.encode("utf-8", "surrogatepass"), safe="")


def _form(pairs):
    return urlencode([tuple(text.encode("utf-8", "surrogatepass") for text in pair) for pair in pairs]).encode()


OPENED, WATCHING = [], []
OURS = (Path(pellucid.__file__).parent, *(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")))


def _audit(event, arguments):
    if WATCHING and event in ("open", "subprocess.Popen", "os.system", "os.exec", "socket.connect", "os.remove"):
        OPENED.append((event, str(arguments[0])))


@contextmanager
def watching():
    """Gives a list of what is opened, started or connected within it, by any thread."""
    if not hasattr(sys, "audited_by_studio"):
        sys.addaudithook(_audit)
        sys.audited_by_studio = True
    OPENED.clear()
    WATCHING.append(True)
    try:
        yield OPENED
    finally:
        WATCHING.clear()


def _is_ours(event, path, studio):
    """Whether it is the package, the run, or the temporary folder in which a page to save is written."""
    folders = [*OURS, *(run.path for run in studio.runs.values())]
    is_temporary = (
        Path(path).is_relative_to(gettempdir()) and Path(path).relative_to(gettempdir()).parts[0][:3] == "tmp"
    )
    is_read = path in sys.path or path.isdigit() or any(Path(path).is_relative_to(folder) for folder in folders)
    return is_temporary or (event == "open" and is_read) or (event, path) == ("os.remove", "page.html")


async def _check(browser, studio, request):
    answer = await browser.ask(*request)
    assert answer.status in (200, 303, 400, 403, 404, 405, 408, 413, 414, 415, 421, 422), (answer.status, request)
    if answer.status == 422:
        assert "could not be computed" in answer.html
        pytest.fail(f"nobody foresaw this: {request} {answer.html[-400:]}")
    if answer.status == 303:
        assert answer.headers["location"].startswith(("./", "../", "?")), request
    elif answer.headers["content-type"].startswith("text/html"):
        assert "x-evil" not in check_page(answer.html).tags, request
    else:
        assert answer.headers["content-type"].split(";")[0] in (
            "text/css",
            "text/javascript",
            "application/octet-stream",
        )
    assert not any(character in value for value in answer.headers.values() for character in "\r\n")
    return answer.status


def _ask_generated(studio, seed, count):
    browser = Browser(studio)
    requests = Requests(studio, browser, seed)

    async def ask_all():
        return [await _check(browser, studio, requests.request()) for _ in range(count)]

    with watching() as opened:
        statuses = asyncio.run(ask_all())
    assert not [each for each in opened if not _is_ours(*each, studio)]
    return Counter(statuses)


def test_generated_requests_are_answered_and_nothing_runs(hostile):
    statuses = _ask_generated(hostile, 53, 120)
    assert statuses[200] > 20 and statuses[303] > 1, statuses


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(8))
def test_two_thousand_generated_requests_are_answered_and_nothing_runs(hostile, seed):
    statuses = _ask_generated(hostile, seed, 250)
    assert statuses[200] > 40 and statuses[303] > 2, statuses


@pytest.fixture(scope="module")
def browser(linear):
    return Browser(Studio({"linear": linear}))


def sent(browser, body, **headers):
    return browser.now("POST", "/text", {**browser.entrance(), **SENT, **headers}, body)


def test_a_text_is_sent_and_its_page_is_read(browser):
    elsewhere = sent(browser, b"model=linear&text=A+fine+film.")
    assert elsewhere.status == 303 and re.fullmatch(r"\./text/[0-9a-f]{24}", elsewhere.headers["location"])
    target = elsewhere.headers["location"].removeprefix(".")
    pages = [browser.now(method, target, browser.entrance()) for method in ("GET", "HEAD")]
    assert [page.status for page in pages] == [200, 200] and "fine" in " ".join(check_page(pages[0].html).text)


def test_a_large_form_is_refused_before_it_is_read(browser):
    body = b"text=" + b"a" * 1_000_000
    answer = sent(browser, body, **{"content-length": len(body)})
    assert answer.status == 413 and "larger than 200,000 bytes" in answer.html and answer.read == 0
    answer = sent(browser, body)
    assert answer.status == 413 and answer.read <= 4  # of sixteen parts: without a length they are counted


@pytest.mark.parametrize(
    ("body", "headers", "status", "sentence"),
    (
        (b"&".join([b"a=b"] * (FIELDS + 1)), {}, 413, "more than 64 fields"),
        (b"text=%ff", {}, 400, "not written in UTF-8"),
        (b"text=\xff", {}, 400, "not written in UTF-8"),
        (b"text=a", {"content-type": "multipart/form-data; boundary=x"}, 415, "application/x-www-form-urlencoded"),
        (b"text=a", {"content-type": "application/x-www-form-urlencoded; charset=latin-1"}, 415, "UTF-8"),
        (b"text=a", {"content-type": ""}, 415, "from the page"),
        (b"text=a", {"content-length": "x"}, 413, "larger"),
    ),
)
def test_another_form_than_a_page_sends_is_refused_in_a_sentence(browser, body, headers, status, sentence):
    answer = sent(browser, body, **headers)
    assert answer.status == status and sentence in answer.html


def test_wrong_addresses_and_methods_are_refused(browser):
    entrance = browser.entrance()
    for target in ("/nowhere/a", "/text/", "/text//a", "/text/%2e%2e", "/text/.", "/../etc/passwd"):
        assert browser.now("GET", target, entrance).status == 404, target
    assert browser.now("GET", b"/text/%ff", entrance).status == 400
    assert browser.now("GET", b"/text?model=%ff", entrance).status == 400
    assert browser.now("GET", "/text?" + "&".join("ab" * 70), entrance).status == 413
    assert browser.now("GET", "/" + "a" * 9_000, entrance).status == 414
    put = browser.now("PUT", "/text", entrance)
    assert put.status == 405 and put.headers["allow"] == "GET, HEAD, POST"
    assert browser.now("POST", "/style.css", {**entrance, **SENT}).status == 405


def test_what_a_page_loads_may_be_cached_under_the_address_of_its_version(browser):
    plain = browser.now("GET", "/studio.js", browser.entrance())
    assert plain.headers["cache-control"] == "no-store" and plain.headers["content-type"].startswith("text/javascript")
    digest = static_file("studio.js").digest
    assert "immutable" in browser.now("GET", f"/studio.js?v={digest}", browser.entrance()).headers["cache-control"]
    assert browser.now("GET", "/studio.js?v=0", browser.entrance()).headers["cache-control"] == "no-store"


class Failing:
    """A catalogue whose one view returns or raises something."""

    def __init__(self, result):
        self.result = result

    def __contains__(self, name):
        return name == "text"

    def get(self, name):
        return self

    def make(self, visit):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    "error", (KeyError("secret text"), ValueError("secret\ntext"), RecursionError(), AssertionError())
)
def test_an_error_that_nobody_foresaw_is_a_page_and_its_words_are_not_logged(browser, monkeypatch, capsys, error):
    monkeypatch.setattr(server, "views", Failing(error))
    answer = browser.now("GET", "/text", browser.entrance())
    assert answer.status == 422 and type(error).__name__ in " ".join(check_page(answer.html).text)
    out, err = capsys.readouterr()
    assert out == "" and type(error).__name__ in err and "secret" not in err and "test_server.py" in err


def test_memory_that_runs_out_gets_the_usual_sentence(browser, monkeypatch):
    monkeypatch.setattr(server, "views", Failing(MemoryError()))
    assert "not enough memory" in browser.now("GET", "/text", browser.entrance()).html


@pytest.mark.parametrize(
    ("name", "written"),
    (
        ("report.html", "attachment; filename=\"report.html\"; filename*=UTF-8''report.html"),
        ('../../.ssh/a\r\nb".html', "attachment; filename=\"ssh-a--b-.html\"; filename*=UTF-8''ssh-a--b-.html"),
        ("é.html", "attachment; filename=\"-.html\"; filename*=UTF-8''%C3%A9.html"),
        ("..", "attachment; filename=\"file\"; filename*=UTF-8''file"),
    ),
)
def test_a_file_is_saved_under_a_name_that_is_no_path(browser, monkeypatch, name, written):
    monkeypatch.setattr(server, "views", Failing(File(name, "<b>content</b>")))
    answer = browser.now("GET", "/text", browser.entrance())
    assert answer.headers["content-disposition"] == written and answer.content == b"<b>content</b>"
    assert answer.headers["content-type"] == "application/octet-stream"


def test_an_address_that_asks_for_a_report_gives_a_file(browser):
    where = sent(browser, urlencode({"text": "A good film.", "method": "occlusion"}).encode()).headers["location"]
    answer = browser.now("GET", f"/{where.removeprefix('./')}?save=yes", browser.entrance())
    assert answer.status == 200 and answer.headers["content-disposition"].startswith("attachment;")
    assert answer.content.startswith(b"<!doctype html>") and b"<form" not in answer.content


@pytest.mark.parametrize("address", ("//evil.example", "https://evil.example", "/text", "text"))
def test_no_view_leads_out_of_the_studio(browser, monkeypatch, address):
    monkeypatch.setattr(server, "views", Failing(Elsewhere(address)))
    answer = browser.now("GET", "/text", browser.entrance())
    assert answer.status == 422 and "location" not in answer.headers


# Many readers at once.


async def _read_page(browser, reader, text):
    """The finished page of a reader's text, and how many pages said that it was being computed."""
    headers = browser.entrance(reader)
    elsewhere = await browser.ask(
        "POST", "/text", {**headers, **SENT}, urlencode({"text": text, "method": "occlusion"}).encode()
    )
    target = elsewhere.headers["location"].removeprefix(".")
    for waited in range(300):
        page = await browser.ask("GET", target, headers)
        if 'http-equiv="refresh"' not in page.html:
            return target, page, waited
    raise AssertionError("never computed")


def test_fifty_readers_at_once_see_their_own_texts_and_memory_stays_bounded(linear):
    browser = Browser(Studio({"linear": linear}))
    words = [f"word{index:02}x" for index in range(50)]

    async def all_readers():
        return await asyncio.gather(
            *(_read_page(browser, f"reader{index}", f"A {word} film.") for index, word in enumerate(words))
        )

    asyncio.run(_read_page(browser, "first", "A film."))  # imports what is needed
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pages = asyncio.run(all_readers())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len({target for target, _, _ in pages}) == 50
    for word, (_, page, _) in zip(words, pages, strict=True):
        assert page.status == 200 and re.findall(r"word\d\dx", page.html)
        assert set(re.findall(r"word\d\dx", page.html)) == {word}
    assert grown < 80_000, f"{grown:,} kB"


def test_a_busy_reader_does_not_keep_a_patient_one_waiting():
    begin, order = threading.Event(), []

    def slow(texts):
        begin.wait(60)
        order.extend(re.findall(r"busy\d|patient", " ".join(texts)))
        return answer(texts)

    studio = Studio({"slow": pellucid.from_function(slow, ["bad", "good"])})
    browser, waiting = Browser(studio), studio.desks["slow"]._turns

    async def queued(reader, count):
        while len(waiting.get(reader, ())) < count:
            await asyncio.sleep(0.01)

    async def both():
        busy = [asyncio.create_task(_read_page(browser, "busy", f"A busy{index} film.")) for index in range(8)]
        await queued("busy", 7)
        patient = asyncio.create_task(_read_page(browser, "patient", "A patient film."))
        await queued("patient", 1)
        begin.set()
        return await asyncio.gather(*busy, patient)

    pages = asyncio.run(both())
    firsts = list(dict.fromkeys(order))
    assert all(page.status == 200 for _, page, _ in pages)
    assert firsts.index("patient") <= 2, firsts


@pytest.mark.parametrize("steps", (1, 7))
def test_a_key_is_not_guessed(browser, steps):
    elsewhere = sent(browser, b"text=A+secret+film.")
    key = elsewhere.headers["location"].rpartition("/")[2]
    near = key[:-steps] + "0" * steps
    if near != key:
        answer = browser.now("GET", f"/text/{near}", browser.entrance("another"))
        assert answer.status == 400 and "secret" not in answer.html
