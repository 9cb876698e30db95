"""A model behind a service: what fails is n_texts again, what was answered never, and a bad text loses itself alone."""

import json
import sqlite3
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot, PellucidError, ServiceAway

LABELS = ["negative", "positive"]
TEXTS = ["A good film.", "Nobody liked it.", "good and bad, bad and good", "It rained again.", "A good film."]


def answer_of(text):
    """Probabilities by words of a text, or of both texts of a pair."""
    words = " ".join([text] if isinstance(text, str) else text).split()
    high = 1 / (1 + np.exp(-sum({"good": 1.5, "bad": -1.0, "Nobody": -2.0}.get(word, 0.1) for word in words)))
    return [1 - high, high]


class Server:
    """A service on this machine. behave: (number of the call, texts) -> None, or status, headers and body."""

    def __init__(self, behave=lambda number, texts: None, seconds=0.0):
        self.behave, self.seconds, self.texts, self.headers, self.times = behave, seconds, Counter(), [], []
        self.running = self.most = self.answered = 0
        self.lock = threading.Lock()
        handler = type(
            "Handler",
            (BaseHTTPRequestHandler,),
            {"do_POST": lambda handler: self.post(handler), "log_message": lambda *_: None},
        )
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/classify"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def post(self, handler):
        texts = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))["texts"]
        with self.lock:
            self.times.append(time.monotonic())
            self.headers.append(handler.headers)
            number, self.running = len(self.times), self.running + 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        plain = 200, {}, json.dumps({"probabilities": [answer_of(text) for text in texts]})
        status, headers, body = self.behave(number, texts) or plain
        with self.lock:
            self.running -= 1
            if status == 200:
                self.texts.update(map(json.dumps, texts))
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": len(body.encode())}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(body.encode())


@pytest.fixture
def serve():
    servers = []

    def start(*settings, **named):
        servers.append(Server(*settings, **named))
        return servers[-1]

    yield start
    for server in servers:
        server.http.shutdown()
        server.http.server_close()


def fails_for(word, status=422):
    """Behaves so: a call with that word in any of its texts fails."""
    return lambda number, texts: (status, {}, "no such words here") if word in json.dumps(texts) else None


def scores(results):
    return [explanation.scores.tolist() for explanation in results]


def plain(texts, method="occlusion"):
    """The results of the same answers, given by a function that never fails."""
    model = pellucid.from_function(lambda texts: [answer_of(text) for text in texts], LABELS)
    return pellucid.explain(model, texts, method, progress=False)


def explained(model, texts=TEXTS, **settings):
    return pellucid.explain(model, texts, "occlusion", progress=False, **settings)


def test_calls_that_fail_come_again_and_no_text_is_answered_twice(serve):
    server = serve(lambda number, texts: (503, {}, "busy") if number % 3 == 0 else None)
    model = pellucid.remote(server.url, LABELS, batch_size=3, headers={"Authorization": "Bearer key-1234567"})
    assert scores(explained(model)) == scores(plain(TEXTS))
    assert set(server.texts.values()) == {1}
    assert server.headers[0]["Authorization"] == "Bearer key-1234567"
    pairs = [pellucid.Example(("A good film.", "bad")), pellucid.Example(("It rained.", "good"))]
    assert scores(explained(model, pairs)) == scores(plain(pairs))


def test_a_service_that_asks_for_a_pause_gets_it_from_all_threads(serve):
    server = serve(lambda number, texts: (429, {"Retry-After": "1"}, "") if number == 1 else time.sleep(0.1))
    model = pellucid.remote(server.url, LABELS, batch_size=1, at_once=2)
    model.predict(TEXTS)
    after = sorted(server.times)[2:]  # two calls were in flight
    assert min(after) - min(server.times) > 0.95
    server.behave = lambda number, texts: (429, {"Retry-After": "86400"}, "")
    with pytest.raises(ServiceAway, match="asks for a pause of 86,400 seconds"):
        model.predict("Another text.")


def test_calls_keep_their_pace_and_their_number(serve):
    server = serve(seconds=0.1)
    pellucid.remote(server.url, LABELS, batch_size=1, at_once=3).predict([f"text {n}" for n in range(12)])
    assert server.most == 3
    paced = serve()
    pellucid.remote(paced.url, LABELS, batch_size=1, calls_a_minute=600).predict([f"text {n}" for n in range(6)])
    assert np.diff(sorted(paced.times)).min() > 0.05
    assert max(paced.times) - min(paced.times) > 0.45


def test_a_text_that_fails_loses_itself_alone(serve, tmp_path):
    model = pellucid.remote(serve(fails_for("Nobody")).url, LABELS)
    with pytest.raises(
        ModelCannot, match=r"it answered 422 Unprocessable .*: no such words here, for the text 'Nobody"
    ) as error:
        explained(model)
    assert not isinstance(error.value, ServiceAway)
    texts = [*TEXTS[:2], *TEXTS[1:]]
    with pytest.warns(UserWarning, match=r"2 texts could not be explained \(row 1: .*; row 2: "):
        results = explained(model, texts, on_error="keep")
    assert [failure.row for failure in results.failures] == [1, 2]
    assert "422" in results.failures[0].reason
    for shown in (str(results), pellucid.report(results, path=tmp_path / "page.html").read_text()):
        assert "2 texts could not be explained (row 1: " in shown
    left = [text for text in texts if "Nobody" not in text]
    assert scores(results) == scores(plain(left))
    assert [explanation.example.text for explanation in results] == left
    assert results.sorted_by("text_order").numbers == (0, 3, 4, 5)
    with pytest.warns(UserWarning, match="1 text could not"):
        both = pellucid.explain_all(model, TEXTS, ["occlusion", "lime"], on_error="keep", progress=False)
    assert [len(of_method) for of_method in both.values()] == [4, 4]
    assert [failure.row for failure in both["occlusion"].failures] == [1]
    with pytest.raises(ModelCannot, match="422"):
        explained(model, TEXTS[1], on_error="keep")
    with pytest.raises(BadSetting, match=r"on_error='drop' is not possible; give one of keep, raise\."):
        explained(model, on_error="drop")


@pytest.mark.parametrize("batch_size", (1, 16))
def test_a_service_that_refuses_plain_sentences_keeps_what_it_answers(batch_size):
    """It answers neither of the plain sentences, nor letters."""
    seen = Counter()

    def invoices(texts):
        if any(word in text for text in texts for word in ("day", "trains", "letter", "card")):
            raise ValueError("no invoice")
        seen.update(texts)
        return [answer_of(text) for text in texts]

    texts = ["Invoice 3, good.", "A letter.", "Invoice 4, bad."]
    model = pellucid.remote(invoices, LABELS, retries=0, batch_size=batch_size, at_once=1)
    with pytest.warns(UserWarning, match=r"1 text could not be explained \(row 1: .*no invoice"):
        results = explained(model, texts, on_error="keep")
    assert [explanation.example.text for explanation in results] == texts[::2]
    assert max(seen.values()) <= 2  # the last one that was answered says whether the service is there
    with pytest.raises(ServiceAway, match="no invoice"):
        pellucid.remote(invoices, LABELS, retries=0).predict(["A letter.", "A card."])


def test_no_text_comes_again_after_an_interruption(serve, tmp_path):
    server = serve(lambda number, texts: (503, {}, "") if number > 3 else None)
    settings = {"batch_size": 2, "at_once": 1, "retries": 0, "cache": tmp_path / "kept"}
    with pytest.raises(ServiceAway):
        explained(pellucid.remote(server.url, LABELS, **settings))
    n_texts = server.texts.total()
    assert n_texts == 6
    server.behave = lambda number, texts: None
    assert scores(explained(pellucid.remote(server.url, LABELS, **settings))) == scores(plain(TEXTS))
    assert set(server.texts.values()) == {1}
    assert server.texts.total() > n_texts
    calls = len(server.times)
    assert scores(explained(pellucid.remote(server.url, LABELS, **settings))) == scores(plain(TEXTS))
    assert len(server.times) == calls


def test_a_damaged_answer_is_not_used(serve, tmp_path):
    server, path = serve(), tmp_path / "kept.sqlite"
    before = pellucid.remote(server.url, LABELS, cache=path).predict(TEXTS)
    with sqlite3.connect(path) as base:
        base.execute("update answers set numbers = zeroblob(length(numbers))")
    assert pellucid.remote(server.url, LABELS, cache=path).predict(TEXTS) == before
    assert set(server.texts.values()) == {2}


def test_a_cache_is_of_one_service_and_its_labels(serve, tmp_path):
    server, path = serve(), tmp_path / "kept.sqlite"
    pellucid.remote(server.url, LABELS, cache=path)
    with pytest.raises(BadFile, match="is of another question: labels was"):
        pellucid.remote(server.url, LABELS[::-1], cache=path)
    with pytest.raises(BadFile, match="address was"):
        pellucid.remote(f"{server.url}?model=2", LABELS, cache=path)
    (tmp_path / "text.sqlite").write_text("no database" * 100)
    with pytest.raises(BadFile, match="cannot be read or written"):
        pellucid.remote(server.url, LABELS, cache=tmp_path / "text.sqlite")
    with sqlite3.connect(tmp_path / "strange.sqlite") as base:
        base.execute("create table people (name text)")
    with pytest.raises(BadFile, match="a database of something else"):
        pellucid.remote(server.url, LABELS, cache=tmp_path / "strange.sqlite")
    with pytest.raises(BadSetting, match="name the function"):
        pellucid.remote(len, LABELS, cache=path)


@pytest.mark.parametrize(
    "answer, sentence",
    [
        ((200, {}, "<html>welcome</html>"), "its answer is no JSON ('<html>welcome</html>' …)"),
        ((200, {}, "[[0.5, 0.5]]"), 'its answer must be a JSON object {"probabilities": [...]}; list came'),
        ((200, {}, '{"scores": [[0.5, 0.5]]}'), "an object with scores came"),
        (
            (200, {}, '{"probabilities": [[0.5, 0.5], [1]]}'),
            "its answer must be a list of numbers a text; [[0.5, 0.5], [1]]",
        ),
        ((200, {}, '{"probabilities": [[0.2, 0.3, 0.5]]}'), "for 1 texts there must be 1 x 2 numbers, one a class"),
        ((200, {}, '{"probabilities": [[NaN, 1.0]]}'), "something that is no finite number"),
        ((200, {}, '{"probabilities": [[3.5, -1.0]]}'), "probabilities lie between 0 and 1; [3.5, -1.0] came"),
        ((401, {}, "who is secret-key?"), "it answered 401 Unauthorized: who is …?, for 1 texts"),
        ((307, {"Location": "/elsewhere"}, ""), "it answered 307 Temporary Redirect, for"),
        ((500, {}, ""), "it answered 500 Internal Server Error (2 times), for"),
    ],
)
def test_an_answer_that_cannot_be_ends_in_one_sentence(serve, answer, sentence):
    server = serve(lambda number, texts: answer)
    url = server.url.replace("127", "user:secret-word@127") + "?key=secret-query"
    model = pellucid.remote(url, LABELS, retries=1, headers={"Authorization": "Bearer secret-key"})
    with pytest.raises(ServiceAway) as error:
        explained(model, "A good film.", on_error="keep")
    message = str(error.value)
    assert message.startswith(f"{server.url}: ")
    assert sentence in message
    assert "secret" not in message
    assert "secret" not in repr(model)


def test_a_service_that_is_slow_or_not_there_is_named(serve):
    with pytest.raises(ServiceAway, match=r"no answer came within 0\.1 seconds \(2 times\)"):
        pellucid.remote(serve(seconds=0.4).url, LABELS, timeout=0.1, retries=1).predict("A text.")
    with pytest.raises(ServiceAway, match="it cannot be reached"):
        pellucid.remote("http://127.0.0.1:9/nothing", LABELS, retries=0).predict("A text.")


def test_a_service_that_goes_ends_a_run_which_goes_on_later(serve, tmp_path):
    server = serve(lambda number, texts: (503, {}, "") if number > 20 else None)
    model = pellucid.remote(server.url, LABELS, retries=0, batch_size=4)  # its answers are kept as long as it is there
    texts = [f"{text} {number}" for number, text in enumerate(TEXTS * 30)]
    settings = {"folder": tmp_path / "run", "progress": False}
    with pytest.raises(ServiceAway):
        pellucid.explain_corpus(model, texts, "occlusion", **settings)
    server.behave = fails_for("Nobody")
    run = pellucid.explain_corpus(model, texts, "occlusion", **settings)
    assert len(run.failures) == 30
    assert server.texts.pop('"It was a fine day."') >= 30  # says whether it is the text or the service that fails
    assert set(server.texts.values()) == {1}


def test_a_function_has_the_same_care():
    calls = []

    def flaky(texts):
        calls.append(texts)
        if len(calls) == 2:
            raise OSError("the line is dead")
        return [answer_of(text) for text in texts]

    assert scores(explained(pellucid.remote(flaky, LABELS))) == scores(plain(TEXTS))
    broken = pellucid.remote(lambda texts: texts.nothing, LABELS)
    began = time.monotonic()
    with pytest.raises(ServiceAway, match="it failed with AttributeError"):
        broken.predict("A text.")
    assert time.monotonic() - began < 0.4  # the same call would fail again, so none is made


@pytest.mark.parametrize(
    "service, settings, sentence",
    [
        (7, {}, "service came as int; give an address or a function"),
        ("ftp://example.org", {}, "give one that begins with https:// or http://"),
        ("http://[", {}, "give one that begins with https:// or http://"),
        (len, {"headers": {"a": "b"}}, "headers= belongs to an address"),
        ("http://a.b", {"headers": {"a": "two\nlines"}}, "no printable ASCII"),
        ("http://a.b", {"batch_size": 0}, "batch_size=0 is out of range"),
        ("http://a.b", {"at_once": 0}, "at_once=0 is out of range"),
        ("http://a.b", {"retries": -1}, "retries=-1 is out of range"),
        ("http://a.b", {"calls_a_minute": 0}, "calls_a_minute=0 is too small"),
        ("http://a.b", {"timeout": "long"}, "timeout='long' is not a number"),
        ("http://a.b", {"cache": 3}, "cache came as int"),
    ],
)
def test_settings_that_cannot_be_end_in_one_sentence(service, settings, sentence):
    with pytest.raises((BadSetting, BadInput)) as error:
        pellucid.remote(service, LABELS, **settings)
    assert sentence in str(error.value)
    assert isinstance(error.value, PellucidError)


def picky():
    """A model that fails for one word."""
    return pellucid.from_function(refuse_nobody, LABELS)


def refuse_nobody(texts):
    if any("Nobody" in text for text in texts):
        raise ValueError("no such words here")
    return [answer_of(text) for text in texts]


@pytest.mark.whole
def test_workers_leave_out_the_same_texts(tmp_path):
    texts = [f"{text} {place}" for place, text in enumerate(TEXTS * 28)]
    with pytest.warns(UserWarning, match="28 texts could not .*; and 23 more"):
        alone = explained(picky(), texts, on_error="keep")
    with pytest.warns(UserWarning, match="28 texts could not .*; and 23 more"):
        shared = explained(picky, texts, on_error="keep", workers=2)  # it is called in each worker
    assert [failure.row for failure in shared.failures] == list(range(1, 140, 5))
    assert (shared.failures, shared.numbers, scores(shared)) == (alone.failures, alone.numbers, scores(alone))
    run = pellucid.explain_corpus(picky, texts, "occlusion", folder=tmp_path, workers=2, progress=False)
    assert ([failure.row for failure in run.failures], scores(run)) == (list(range(1, 140, 5)), scores(alone))
    with pytest.raises(ModelCannot, match="only in the memory of this process"):
        explained(lambda: picky(), texts, workers=2)


def test_a_text_is_to_blame_though_a_plain_sentence_fails_as_well():
    def without_days(texts):
        if any("day" in text for text in texts):
            raise ValueError("no days")
        return [[0.5, 0.5]] * len(texts)

    model = pellucid.remote(without_days, ["n", "p"], retries=0)
    results = pellucid.explain(model, ["a film", "a day"], "occlusion", on_error="keep")
    assert [result.example.text for result in results] == ["a film"]
    assert [failure.row for failure in results.failures] == [1]


@pytest.mark.parametrize("answer", [[[True, False]], [[True, 0.0]], [["0.1", "0.9"]], None])
def test_what_is_no_number_is_refused(answer):
    model = pellucid.remote(lambda texts: answer, ["n", "p"], retries=0)
    with pytest.raises(pellucid.PellucidError, match="must be a list of numbers a text"):
        pellucid.explain(model, ["a film"], "occlusion")
