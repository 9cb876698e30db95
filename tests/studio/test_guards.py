"""Nobody asks a studio without its token, under a foreign name, or from another site's page."""

import asyncio
import re

import pytest

from pellucid.studio.guards import HEADERS, TOKEN, guard_for
from pellucid.studio.record import Studio
from tests.studio.browser import ADDRESS, HOST, SENT, Browser, check_page


@pytest.fixture(scope="module")
def browser(linear):
    return Browser(Studio({"linear": linear}), (ADDRESS, "http://localhost:8117", "https://example.org"))


def test_the_token_leaves_the_address_and_becomes_a_cookie(browser):
    answer = browser.now("GET", f"/text/a%20b?x=1&{TOKEN}={browser.guard.token}&y=%3C")
    assert (answer.status, answer.headers["location"]) == (303, "./a%20b?x=1&y=%3C")
    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict; Secure")
    assert browser.guard.token not in answer.headers["set-cookie"] and browser.guard.token not in answer.html
    assert browser.now("GET", "/", {"cookie": f"a=b; {answer.cookie}"}).status == 200
    again = browser.now("GET", f"/?{TOKEN}={browser.guard.token}", {"cookie": answer.cookie})
    assert again.cookie == answer.cookie, "the reader has a new name"


def test_a_link_of_another_site_leads_in_by_a_page_of_ours(browser):
    """A browser sends no strict cookie along a redirect that another site began."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = browser.now("GET", f"/?{TOKEN}={browser.guard.token}", headers)
    assert answer.status == 200 and answer.headers["refresh"] == "1; url=./" and answer.cookie


@pytest.mark.parametrize(
    "cookie",
    (
        "",
        "NAME=",
        "NAME=reader",
        "NAME=reader.",
        "NAME=reader.0000",
        "NAME=someone.SIGNATURE",
        "other=reader.SIGNATURE",
        "NAME=reader.SIGNATURé",
    ),
)
def test_without_a_signed_cookie_nothing_is_shown(browser, cookie):
    name, value = browser.entrance()["cookie"].split("=")
    written = cookie.replace("NAME", name).replace("SIGNATURE", value.partition(".")[2])
    for target in ("/", "/text/abc", "/style.css", "/studio.js", "/nowhere"):
        answer = browser.now("GET", target, {"cookie": written})
        assert answer.status == 403 and "ends in a token" in answer.html
        assert "linear" not in answer.html
        check_page(answer.html)


@pytest.mark.parametrize("token", ("", "wrong", "é", "TOKEN%00", "TOKENx", "token"))
def test_another_token_is_refused_even_beside_a_cookie(browser, token):
    written = token.replace("TOKEN", browser.guard.token)
    assert browser.now("GET", f"/?{TOKEN}={written}", browser.entrance()).status == 403


def test_a_token_opens_nothing_by_a_form(browser):
    assert browser.now("POST", f"/text?{TOKEN}={browser.guard.token}", SENT, b"text=x").status == 403


@pytest.mark.parametrize(
    ("host", "status"),
    (
        (HOST, 200),
        ("LOCALHOST:8117", 200),
        ("example.org", 200),
        ("example.org:443", 200),
        ("127.0.0.1", 421),
        ("127.0.0.1:8118", 421),
        ("evil.example:8117", 421),
        ("127.0.0.1:8117.evil.example", 421),
        ("", 421),
        ("127.0.0.1:8117@evil.example", 421),
    ),
)
def test_only_named_hosts_are_answered(browser, host, status):
    """A name that a stranger points at this machine is none of them."""
    answer = browser.now("GET", "/", {**browser.entrance(), "host": host})
    assert answer.status == status, answer.html


@pytest.mark.parametrize(
    ("headers", "is_answered"),
    (
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-origin", "origin": "null"}, True),  # as browsers write it beside no-referrer
        ({"sec-fetch-site": "same-origin", "origin": ADDRESS}, True),
        ({"origin": "http://localhost:8117"}, True),  # a browser without Sec-Fetch-Site
        ({"origin": "https://example.org"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"sec-fetch-site": "cross-site", "origin": ADDRESS}, False),
        ({"sec-fetch-site": "same-site", "origin": ADDRESS}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8118"}, False),
        ({"origin": "https://127.0.0.1:8117"}, False),
        ({"origin": "http://evil.example"}, False),
    ),
)
def test_forms_come_from_the_studio_alone(browser, headers, is_answered):
    sent = {"content-type": SENT["content-type"], **browser.entrance(), **headers}
    answer = browser.now("POST", "/text", sent, b"text=A+film")
    assert (answer.status in (200, 303)) == is_answered and (is_answered or answer.status == 403), answer.html


def test_another_page_embeds_nothing(browser):
    foreign = {**browser.entrance(), "sec-fetch-site": "same-site"}
    assert browser.now("GET", "/studio.js", {**foreign, "sec-fetch-mode": "no-cors"}).status == 403
    assert browser.now("GET", "/", {**foreign, "sec-fetch-mode": "navigate"}).status == 200


def test_every_answer_has_the_headers_of_safety(browser):
    entrance = browser.entrance()
    targets = [("GET", "/"), ("GET", "/nowhere"), ("PUT", "/"), ("POST", "/text"), ("GET", "/style.css")]
    answers = [browser.now(*target, headers) for target in targets for headers in ({}, entrance)]
    answers.append(browser.now("GET", f"/?{TOKEN}={browser.guard.token}"))
    assert {answer.status for answer in answers} == {200, 303, 403, 404, 405}
    for answer in answers:
        assert HEADERS.items() <= answer.headers.items()
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "trusted-types 'none'" in policy


def test_studios_of_one_host_have_cookies_of_their_own_and_a_token_is_never_shown():
    first, second = guard_for([ADDRESS]), guard_for(["http://127.0.0.1:8118"])
    assert first.cookie != second.cookie and first.token not in repr(first)
    assert second.reader([f"{second.cookie}={first.pass_for('a').replace(first.cookie, '')}"]) == ""
    assert first.reader([f"{first.cookie}=forged.00; {first.cookie}={first.pass_for('a')}"]) == "a"
    assert re.fullmatch(r"[\w-]{43}", first.token)


def test_nothing_but_http_is_answered(browser):
    sent = []
    asyncio.run(browser.answers({"type": "websocket"}, None, sent.append))
    asyncio.run(browser.answers({"type": "lifespan"}, None, sent.append))
    assert not sent
