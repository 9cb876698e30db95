"""The studio by real sockets: over http and https, behind nginx under a prefix, and with silent strangers."""

import http.cookiejar
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from urllib.parse import urljoin, urlsplit

import pytest

from pellucid.base.errors import BadFile, BadSetting
from pellucid.studio import server
from pellucid.studio.door import _site
from pellucid.studio.record import Studio
from pellucid.studio.server import application, serving
from tests.studio.browser import check_page

NGINX, OPENSSL = shutil.which("nginx", path="/usr/sbin:/usr/bin"), shutil.which("openssl")
CONFIGURATION = """
daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location /tools/studio/ {{ proxy_pass http://127.0.0.1:{behind}/; proxy_set_header Host $http_host; }}
  }}
}}
"""


class Reader:
    """A browser that keeps cookies and follows addresses; context: of https."""

    def __init__(self, context=None):
        self.cookies = http.cookiejar.CookieJar()
        handlers = [urllib.request.HTTPCookieProcessor(self.cookies), urllib.request.HTTPSHandler(context=context)]
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)

    def open(self, address, body=None):
        request = urllib.request.Request(address, body, {"sec-fetch-site": "same-origin"})
        with self.opener.open(request, timeout=30) as answer:
            return answer.geturl(), answer.read().decode()

    def ask(self, address):
        """Come in, send a text, and read its page."""
        first, page = self.open(address)
        assert "token" not in first and 'name="text"' in page
        where, page = self.open(first + "text", b"text=A+gripping+film.")
        for _ in range(100):
            if 'http-equiv="refresh"' not in page:
                break
            where, page = self.open(where)
        return where, page


@pytest.fixture
def served(linear):
    """A function that serves a studio; the sites end with the test."""
    running = []

    def serve(**where):
        site = _site(
            **{"host": "127.0.0.1", "port": 0, "certificate": None, "key": None, "behind_proxy": None, **where}
        )
        answers = serving(application(Studio({"linear": linear}), site.guard), site.listening, site.tls)
        answers.__enter__()
        running.append(answers)
        return site

    yield serve
    for answers in running:
        answers.__exit__(None, None, None)


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def test_a_text_is_explained_over_a_socket(served):
    site, reader = served(), Reader()
    where, page = reader.ask(site.address)
    assert where.startswith(site.address.partition("?")[0] + "text/")
    assert "gripping" in " ".join(check_page(page).text)
    (cookie,) = reader.cookies
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "Strict"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        Reader().open(where)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_behind_nginx_under_a_prefix_every_address_leads_back(served, tmp_path):
    port = _free_port()
    public = f"http://127.0.0.1:{port}/tools/studio"
    site = served(behind_proxy=public)
    assert site.address.startswith(f"{public}/?token=")
    behind = site.listening.getsockname()[1]
    written = tmp_path / "nginx.conf"
    written.write_text(CONFIGURATION.format(folder=tmp_path, port=port, behind=behind))
    nginx = subprocess.Popen([NGINX, "-c", str(written), "-p", str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        reader = Reader()
        where, page = reader.ask(site.address)
        assert where.startswith(f"{public}/text/") and "gripping" in page
        assert [cookie.path for cookie in reader.cookies] == ["/tools/studio/"]
        markup = check_page(page)
        loaded = [value for tag, key, value in markup.attributes if (tag, key) in (("link", "href"), ("script", "src"))]
        assert len(loaded) > 1 and all(reader.open(urljoin(where, address))[1] for address in loaded)
    finally:
        nginx.terminate()
        nginx.wait(10)


def _wait_for(port):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "certificate.pem"]
    subprocess.run([OPENSSL, *words.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder / "certificate.pem", folder / "key.pem"


@pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")
def test_over_https_the_cookie_is_sent_encrypted_alone(served, certificate):
    site = served(host="localhost", certificate=certificate[0], key=certificate[1])
    reader = Reader(ssl.create_default_context(cafile=str(certificate[0])))
    where, page = reader.ask(site.address)
    assert where.startswith("https://localhost:") and "gripping" in page
    assert all(cookie.secure for cookie in reader.cookies)


@pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")
def test_a_certificate_without_its_key_is_refused(certificate, tmp_path):
    (tmp_path / "empty.pem").write_text("")
    locked = tmp_path / "locked.pem"
    words = ["ec", "-in", str(certificate[1]), "-aes256", "-passout", "pass:secret", "-out", str(locked)]
    subprocess.run([OPENSSL, *words], check=True, capture_output=True)
    for key in (None, tmp_path / "empty.pem", locked):
        with pytest.raises(BadFile, match="no certificate with its own key, in PEM and without a password"):
            _site("127.0.0.1", 0, certificate[0], key, None)


def test_a_connection_that_says_nothing_or_too_much_is_closed(served, monkeypatch):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    address = served().listening.getsockname()
    for beginning in (b"", b"GET / HTTP/1.1\r\nHost: x\r\n"):
        with socket.create_connection(address, 10) as silent:
            silent.sendall(beginning)
            assert silent.recv(100) == b"", "it is still open"
    with socket.create_connection(address, 10) as long:
        long.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 100_000)
        assert long.recv(12) == b"HTTP/1.1 400"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    (
        ({"host": "0.0.0.0"}, "can be reached from other machines, unencrypted"),
        ({"host": "192.0.2.1"}, "can be reached from other machines, unencrypted"),
        ({"host": "nowhere.invalid", "behind_proxy": "example.org"}, "This machine has no address 'nowhere.invalid'"),
        ({"host": "192.0.2.1", "behind_proxy": "example.org"}, "of 192.0.2.1 cannot be used"),
        ({"behind_proxy": "http://example.org"}, "would be reached unencrypted"),
        ({"behind_proxy": "https://"}, "is no address of a proxy"),
        ({"behind_proxy": "https://a:b@example.org"}, "is no address of a proxy"),
        ({"behind_proxy": "https://example.org/?a=b"}, "is no address of a proxy"),
        ({"behind_proxy": "https://example.org/a; Domain=org"}, "is no address of a proxy"),
        ({"behind_proxy": "https://[::1"}, "is no address of a proxy"),
        ({"key": "key.pem"}, "A key came without its certificate"),
        ({"certificate": "nowhere.pem"}, "There is no file nowhere.pem"),
        ({"port": 65_536}, "port=65536 is out of range"),
        ({"port": True}, "port=True is no whole number"),
    ),
)
def test_where_it_cannot_be_served_is_said_in_a_sentence(changes, sentence):
    with pytest.raises((BadSetting, BadFile)) as error:
        _site(**{"host": "127.0.0.1", "port": 0, "certificate": None, "key": None, "behind_proxy": None, **changes})
    assert sentence in str(error.value)


def test_a_port_in_use_is_refused_and_the_usual_one_is_replaced(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadSetting, match=f"Port {port} of 127.0.0.1 cannot be used"):
            _site("127.0.0.1", port, None, None, None)
        monkeypatch.setattr("pellucid.studio.door.PORT", port)
        with _site("127.0.0.1", None, None, None, None).listening as listening:
            assert listening.getsockname()[1] != port


def test_a_proxy_without_a_scheme_is_reached_by_https():
    site = _site("127.0.0.1", 0, None, None, "Example.org/studio/")
    site.listening.close()
    assert urlsplit(site.address)._replace(query="").geturl() == "https://Example.org/studio/"
    assert site.guard.path == "/studio/" and site.guard.is_secure and "example.org" in site.guard.hosts
