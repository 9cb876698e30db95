"""A model behind a service: calls that fail are tried again, several are made at once, and no text is asked twice."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import NoneType
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from pellucid.base.checks import (
    at_least,
    clipped,
    kind_in_words,
    listed,
    mapping,
    of_class,
    quoted,
    reason,
    shortened,
    whole,
)
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, PellucidError, ServiceAway
from pellucid.base.files import possible_path
from pellucid.base.json_text import json_digest, parsed
from pellucid.base.packages import optional_package
from pellucid.models.classifiers.answer_store import FORM, AnswerStore, key_of
from pellucid.models.classifiers.function import PROBES, FunctionClassifier, Gives, Pieces, Text, from_function
from pellucid.run.scheduler import DEVICE_TOKENS
from pellucid.run.target import Problem

FIRST_WAIT, LONGEST_WAIT = 0.5, 600.0  # seconds before a call is made again; each wait is twice the last
PASSING = frozenset({408, 425, 429})  # answers of a service that may be others later, as all from 500 on
MISTAKES = (PellucidError, TypeError, NameError, AttributeError, ImportError, UnicodeError)  # the same another time
MOST_AT_ONCE, MOST_IN_CALL, MOST_RETRIES = 1_000, 100_000, 100
MOST_SECRET = 6  # a word of a header that is longer counts as secret


def remote(
    service: str | Callable[[list[Any]], Any],
    labels: Sequence[str],
    *,
    gives: Gives = "probabilities",
    problem: Problem = "single_label",
    name: str | None = None,
    mask: str | None = None,
    pieces: Pieces = "word",
    headers: Mapping[str, str] | None = None,
    batch_size: int = 16,
    at_once: int = 4,
    calls_a_minute: float | None = None,
    retries: int = 4,
    timeout: float = 30.0,
    cache: str | Path | None = None,
) -> FunctionClassifier:
    """A model behind HTTP, or a function that may fail, as a model that can be explained, judged and compared.

    service: an address, which is sent {"texts": ["…", …]} (pairs as ["…", "…"]) by POST and answers with a JSON object:
        one list of numbers a text under "probabilities" or "logits", or one number a text under "values" where problem
        is "regression". Or a function as of `from_function`, for a service that is asked otherwise.
    labels, gives, problem, mask, pieces: as in `from_function`.
    name: what results call the model; None: the address without what may be secret, or the function's name.
    headers: of each call, such as {"Authorization": "Bearer …"}; no message shows them.
    batch_size: texts a call, 1 or more. Where a call fails, its texts are asked one by one.
    at_once: calls that run at a time, each in a thread.
    calls_a_minute: at most so many begin in a minute; None: any number.
    retries: a call that cannot connect, is not answered in time, or is answered 408, 425, 429 or 500 and more, or a
        function that raises an error, is tried so many times more: after 0.5, 1, 2 … seconds, or after what the answer
        says in Retry-After.
    timeout: seconds that an address has for an answer; a function sees to that itself.
    cache: a file, or a folder for one, that keeps the answer to each text (not the text), also when the work is
        interrupted; None: they are kept as long as the model. A text has one answer, the first.

    Returns the classifier; for an address it needs the package httpx2. A text that fails while the service answers
    another one raises `ModelCannot`, which `explain(…, on_error="keep")` keeps; a service that answers nothing raises
    `ServiceAway`. Raises `BadSetting` for settings that do not fit, `BadFile` for a cache of another service, other
    labels or settings.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.remote(answer, ["negative", "positive"], name="reviews", at_once=2, cache="reviews.sqlite")
    >>> pellucid.explain(model, "A good film.", "occlusion")[0].top(1)[0].text
    'good'
    """
    of_class("The name", name, str | NoneType, "give a string")
    if not (isinstance(service, str) or callable(service)):
        raise BadInput(f"service came as {kind_in_words(service)}; give an address or a function of a list of texts.")
    of_class("cache", cache, str | Path | NoneType, "give the path of a file or folder")
    at_least("timeout", timeout, 0.001)
    if calls_a_minute is not None:
        at_least("calls_a_minute", calls_a_minute, 0.001)
    pace = CallPace(60 / calls_a_minute if calls_a_minute else 0.0)
    size = whole("batch_size", batch_size, 1, MOST_IN_CALL)
    threads, tries = whole("at_once", at_once, 1, MOST_AT_ONCE), 1 + whole("retries", retries, 0, MOST_RETRIES)
    ask: Any = service
    if isinstance(service, str):
        key = "values" if problem == "regression" else gives
        ask = Address(service, mapping("headers", headers or {}), timeout, key)
    elif headers is not None:
        raise BadSetting("headers= belongs to an address; a function sends its own.")
    elif cache is not None and name is None:
        raise BadSetting("A cache says of which service its answers are; name the function: name='reviews v2'.")
    title, digest = (ask.name, ask.digest) if isinstance(ask, Address) else (_name_of(ask), None)
    title = title if name is None else name
    model = from_function(ask, labels, gives=gives, problem=problem, name=title, mask=mask, pieces=pieces)
    seal: dict[str, object] = {"form": FORM, "service": title, "address": digest}
    seal |= {"labels": list(model.labels), "gives": model.gives, "problem": problem}
    answers = AnswerStore(None if cache is None else possible_path(cache), seal, model.width)
    with_care = Service(ask, title, model.checked, answers, pace, size, threads, tries, json_digest(seal))
    model = replace(model, function=with_care, pack_tokens=DEVICE_TOKENS)
    model.packings[0] = "padded"  # a service has no padding, and how many texts a call has is its own business
    return model


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", "function"))


# One call of an address.


class Address:
    """A function from texts to numbers that asks an address. key: under which its answers stand."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float, key: str) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            parts, host, port = urlsplit(""), None, None
        if parts.scheme not in ("http", "https") or not host:
            raise BadSetting(
                f"The address {quoted(url)} is not possible; give one that begins with https:// or http://."
            )
        if not all(isinstance(value, str) and value.isascii() and value.isprintable() for value in headers.values()):
            raise BadSetting(
                "headers= has a value that is no printable ASCII string; give {'Authorization': 'Bearer …'}."
            )
        self.url, self.key, self.timeout = url, key, timeout
        self.name = f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path}"
        hidden = [parts.username, parts.password, parts.query, *parts.query.replace("&", "=").split("=")]
        words = [word for value in headers.values() for word in value.split()]
        self.secrets = sorted({word for word in (*hidden, *words) if word and len(word) > MOST_SECRET}, key=len)[::-1]
        self.digest = json_digest([url, key])
        self._package: Any = optional_package("httpx2")
        self._client = self._package.Client(headers=dict(headers), timeout=timeout)

    def __call__(self, texts: list[Text]) -> Any:
        """What stands under the key. Raises an error that has the `response` where the status is one of failure."""
        try:
            response = self._client.post(self.url, json={"texts": texts})
        except self._package.TimeoutException:
            raise TimeoutError(f"no answer came within {self.timeout:g} seconds") from None
        except self._package.TransportError as error:
            raise ConnectionError(self.without_secrets(f"it cannot be reached: {reason(error)}")) from None
        if not response.is_success:
            words = f"it answered {response.status_code} {response.reason_phrase}".rstrip()
            body = self.without_secrets(shortened(response.text[:1000], 120))
            raise AnsweredFailure(f"{words}: {body}" if body else words, response)
        try:
            record = parsed(response.text)
        except ValueError:
            raise ModelCannot(f"its answer is no JSON ({shortened(response.text[:200], 60)!r} …)") from None
        if not isinstance(record, dict) or self.key not in record:
            came = (
                f"an object with {listed(record) or 'nothing'}" if isinstance(record, dict) else kind_in_words(record)
            )
            raise ModelCannot(f'its answer must be a JSON object {{"{self.key}": [...]}}; {came} came')
        return record[self.key]

    def without_secrets(self, text: str) -> str:
        """The text with … for words of headers and of the address's query."""
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return text


class AnsweredFailure(Exception):
    """An address answered with a status of failure. response: what it answered."""

    def __init__(self, words: str, response: Any) -> None:
        super().__init__(words)
        self.response = response


# Calls with care.


class Unanswered(Exception):
    """What a service did to some texts, each time it was asked. is_silent: it could not be reached at all."""

    def __init__(self, words: str, is_silent: bool) -> None:
        super().__init__(words)
        self.is_silent = is_silent


@dataclass
class CallPace:
    """When the next call may begin. between: seconds between two of them."""

    between: float
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, ended: threading.Event) -> None:
        """Wait for this call's turn."""
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + self.between
        ended.wait(begin - now)

    def pause(self, seconds: float) -> None:
        """Let no call begin before."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


@dataclass(repr=False)
class Service:
    """A function from texts to numbers [text number], which asks another one. checked: raises `ModelCannot` for an
    answer that cannot be. digest: of what it is. answered: a text that it has answered, once there is one.
    """

    ask: Callable[[list[Any]], Any]
    name: str
    checked: Callable[[np.ndarray, int], np.ndarray]
    answers: AnswerStore
    pace: CallPace
    batch_size: int
    at_once: int
    tries: int
    digest: str
    answered: list[Text] = field(default_factory=list)

    def __call__(self, texts: Sequence[Text]) -> np.ndarray:
        """[text number]: each text that was not answered before is asked once."""
        keys = [key_of(text) for text in texts]
        known = self.answers.known(keys)
        fresh = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.values())
        if fresh:
            self._ask_all([fresh[first : first + self.batch_size] for first in range(0, len(fresh), self.batch_size)])
            known = self.answers.known(keys)
        return np.stack([known[key] for key in keys])

    def _ask_all(self, batches: Sequence[list[Text]]) -> None:
        """Ask all; after an error or Ctrl-C no call begins any more, and those that run are waited for and kept."""
        ended = threading.Event()
        with ThreadPoolExecutor(min(self.at_once, len(batches))) as pool:
            try:
                futures = [pool.submit(self._ask_batch, batch, ended) for batch in batches]
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                ended.set()
        errors = [error for error in (future.exception() for future in futures) if error is not None]
        if errors:
            raise next((error for error in errors if isinstance(error, ServiceAway)), errors[0])

    def _ask_batch(self, texts: list[Text], ended: threading.Event, is_there: bool = False) -> None:
        """Ask texts together, and where that fails while the service answers another, one by one. is_there: whether it
        just has.
        """
        try:
            self.answers.keep([key_of(text) for text in texts], self._tried(texts, ended))
            self.answered[:] = texts[:1]
        except Unanswered as failure:
            if not (is_there or ended.is_set()):
                self._check_there(texts, failure, ended)
            if ended.is_set():
                return
            if len(texts) == 1:
                raise ModelCannot(f"{self.name}: {failure}, for the text {clipped(quoted(texts[0]))}.") from None
            known = self.answers.known([key_of(text) for text in texts])
            for text in texts:
                if key_of(text) not in known:
                    self._ask_batch([text], ended, is_there=True)

    def _check_there(self, texts: list[Text], failure: Unanswered, ended: threading.Event) -> None:
        """Raise `ServiceAway` where plain sentences of different words fail as well, and a text that it has answered,
        or, where there is none, each of these texts by itself: then no text is to blame.
        """
        plain = [sentence if isinstance(texts[0], str) else (sentence, sentence) for sentence in PLAIN]
        if any(self._is_answered(sentence, ended, self.tries) for sentence in plain):
            return
        others = list(self.answered) or ([] if failure.is_silent or len(texts) == 1 else texts)
        if any(self._is_answered(text, ended, 1) for text in others):
            return
        if not ended.is_set():
            raise ServiceAway(
                f"{self.name}: {failure}, for {len(texts):,} texts (first: {quoted(texts[0])}) and for plain sentences "
                f"too; what it answered before is kept, so that another call goes on."
            )

    def _is_answered(self, text: Text, ended: threading.Event, tries: int) -> bool:
        try:
            self.answers.keep([key_of(text)], self._tried([text], ended, tries))
        except Unanswered:
            return False
        return True

    def _tried(self, texts: list[Text], ended: threading.Event, tries: int | None = None) -> np.ndarray:
        failure, pause, tries, is_silent = "", FIRST_WAIT, self.tries if tries is None else tries, False
        for attempt in range(1, tries + 1):
            self.pace.wait(ended)
            if ended.is_set():
                break
            try:
                return self.checked(_numbers(self.ask(list(texts))), len(texts))
            except Exception as error:  # anything can happen in a user's function
                failure = _in_words(error, self.name) + (f" ({attempt} times)" if attempt > 1 else "")
                wish, is_silent = wished_pause(error), isinstance(error, OSError) and status_of(error) is None
                if not is_passing(error) or attempt == tries:
                    break
            if wish is not None and wish > LONGEST_WAIT:
                failure += f", and asks for a pause of {wish:,.0f} seconds"
                break
            if wish is not None:
                self.pace.pause(wish)
            else:
                ended.wait(min(pause, LONGEST_WAIT))
            pause *= 2
        raise Unanswered(failure, is_silent)


PLAIN = (PROBES[0], "Seven trains left.")  # that share no word


def _numbers(answer: Any) -> np.ndarray:
    try:
        if answer is None or _has_words(answer):
            raise TypeError
        return np.asarray(answer, dtype=np.float64)
    except (ValueError, TypeError):
        raise ModelCannot(f"its answer must be a list of numbers a text; {clipped(quoted(answer))} came") from None


def _has_words(answer: Any) -> bool:
    """Whether truth values, strings or nothing stand among the numbers, which numpy would read as numbers."""
    if isinstance(answer, list | tuple):
        return any(map(_has_words, answer))
    return isinstance(answer, bool | str) or answer is None


def _in_words(error: Exception, name: str) -> str:
    plain = isinstance(error, PellucidError | AnsweredFailure | TimeoutError | ConnectionError)
    sentence = str(error).removeprefix(f"{name}: ").rstrip(".") if plain else ""
    return sentence or f"it failed with {type(error).__name__}: {reason(error)}"


def status_of(error: Exception) -> int | None:
    """The HTTP status of an error of an address, or of the libraries that functions call addresses with."""
    status = getattr(getattr(error, "response", None), "status_code", getattr(error, "status_code", None))
    return status if isinstance(status, int) else None


def is_passing(error: Exception) -> bool:
    """Whether the same call may be answered later."""
    status = status_of(error)
    return not isinstance(error, MISTAKES) if status is None else status in PASSING or status >= 500


def wished_pause(error: Exception) -> float | None:
    """The seconds of Retry-After, 0 or more; None where there is none that can be read."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    written = headers.get("Retry-After") if headers is not None else None
    try:
        seconds = float(written)  # type: ignore[arg-type]  # None is an error as well
    except (TypeError, ValueError):
        try:
            seconds = parsedate_to_datetime(str(written)).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(seconds, 0.0) if seconds == seconds else None
