"""What a real browser makes of the guards: no markup from a script, and pages of other sites that lead in or send forms."""

import http.server
import threading
from contextlib import contextmanager

import pytest

from tests.studio.test_in_browser import address, browser, opened, pytestmark  # noqa: F401 - fixtures and their mark

ATTEMPTS = """() => [
  () => { document.body.innerHTML = '<b>x</b>' },
  () => { document.body.insertAdjacentHTML('beforeend', '<b>x</b>') },
  () => { trustedTypes.createPolicy('default', {createHTML: text => text}) },
  () => { document.createElement('script').text = '1' },
].map(attempt => { try { attempt(); return 'done' } catch (error) { return error.name } })"""


@contextmanager
def another_site(page):
    """A page of another site, "localhost" beside 127.0.0.1; gives its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}/"
        site.shutdown()


def test_no_script_can_make_markup_and_none_can_allow_itself_to(browser, address):  # noqa: F811
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    assert "done" not in page.evaluate(ATTEMPTS)
    context.close()


def test_a_link_with_the_token_leads_in_from_another_site_and_its_forms_do_not(browser, address):  # noqa: F811
    top = address.partition("?")[0]
    html = f'<a href="{address}">in</a><form action="{top}text" method="post"><input name="text" value="A"><button>send</button></form>'
    context = browser.new_context()
    page = context.new_page()
    with another_site(html) as site:
        page.goto(site)
        page.click("text=in")
        page.wait_for_selector("textarea[name=text]", timeout=10_000)
        assert page.url == top
        page.goto(site)
        page.click("text=send")
        assert "Nobody is let in without the token" in page.inner_text("main")
    context.close()


@pytest.mark.parametrize(("way", "name"), (("img", "icon.svg"), ("script", "studio.js")))
def test_another_site_embeds_nothing(browser, address, way, name):  # noqa: F811
    top = address.partition("?")[0]
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    assert page.request.get(f"{top}{name}").status == 200
    ends = "onload=\"document.title = 'loaded'\" onerror=\"document.title = 'refused'\""
    with another_site(f'<title>waiting</title><{way} src="{top}{name}" {ends}></{way}>') as site:
        page.goto(site)
        page.wait_for_function("document.title != 'waiting'")
        assert page.title() == "refused"
    context.close()
