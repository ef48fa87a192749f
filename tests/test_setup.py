"""The ground the other tests stand on: the browser search, the server, the guard, the Makefile, the configuration."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from benchmarks.support import browser as search
from benchmarks.support.server import serve
from tests.support.guard import Guard
from viz.app import replicas

ROOT = Path(__file__).resolve().parents[1]


class TestBrowserSearch:
    """Installed, then apt-get for root, then Playwright's download; HEADLIGHT_BROWSER before all of them."""

    @pytest.fixture
    def machine(self, monkeypatch):
        """A machine without any browser, on which both ways to install one can be made to work."""
        machine = SimpleNamespace(present=set(), calls=[], apt_gives=None, playwright_gives=None)

        def installer(name):
            def install():
                machine.calls.append(name)
                machine.present.add(getattr(machine, f"{name}_gives"))

            return install

        monkeypatch.setattr(search, "starts", lambda path: str(path) in machine.present)
        monkeypatch.setattr(search, "playwright_path", lambda: "/playwright/chrome")
        monkeypatch.setattr(search.shutil, "which", lambda name: f"/bin/{name}" if "/" not in name else None)
        monkeypatch.setattr(search, "install_with_apt", installer("apt"))
        monkeypatch.setattr(search, "install_with_playwright", installer("playwright"))
        monkeypatch.delenv(search.VARIABLE, raising=False)
        return machine

    def test_the_variable_comes_first(self, machine, monkeypatch):
        machine.present |= {"/opt/my-chrome", "/bin/chromium"}
        monkeypatch.setenv(search.VARIABLE, "/opt/my-chrome")
        assert search.ensure_browser() == "/opt/my-chrome"

    def test_a_variable_that_names_nothing_is_an_error_with_the_name_in_it(self, machine, monkeypatch, capsys):
        machine.present |= {"/bin/chromium"}
        monkeypatch.setenv(search.VARIABLE, "/nowhere/chrome")
        with pytest.raises(ValueError, match="HEADLIGHT_BROWSER is '/nowhere/chrome', which does not start"):
            search.find_browser()
        assert search.main() == 2
        assert "/nowhere/chrome" in capsys.readouterr().err

    def test_chromium_comes_before_chrome(self, machine):
        machine.present |= {"/bin/google-chrome", "/bin/chromium-browser"}
        assert search.find_browser() == "/bin/chromium-browser"

    def test_what_is_installed_is_used_and_nothing_is_fetched(self, machine):
        machine.present |= {"/bin/google-chrome"}
        assert search.ensure_browser() == "/bin/google-chrome"
        assert machine.calls == []

    def test_a_download_of_before_is_used_and_nothing_is_fetched(self, machine):
        machine.present |= {"/playwright/chrome"}
        assert search.ensure_browser() == "/playwright/chrome"
        assert machine.calls == []

    def test_apt_comes_before_the_download(self, machine):
        machine.apt_gives, machine.playwright_gives = "/bin/chromium", "/playwright/chrome"
        assert search.ensure_browser() == "/bin/chromium"
        assert machine.calls == ["apt"]

    def test_the_download_comes_when_apt_gives_nothing(self, machine):
        machine.playwright_gives = "/playwright/chrome"
        assert search.ensure_browser() == "/playwright/chrome"
        assert machine.calls == ["apt", "playwright"]

    def test_with_none_the_command_says_so_and_leaves_the_verdict_to_the_tests(self, machine, capsys):
        assert search.ensure_browser() is None
        assert search.main() == 0
        assert "no Chromium or Chrome found" in capsys.readouterr().out

    def test_apt_is_left_alone_when_this_is_not_root(self, monkeypatch):
        monkeypatch.setattr(search.shutil, "which", lambda name: f"/bin/{name}")
        monkeypatch.setattr(search.os, "geteuid", lambda: 1000, raising=False)
        monkeypatch.setattr(search.subprocess, "run", lambda *_, **__: pytest.fail("apt-get was started"))
        search.install_with_apt()

    def test_a_failing_apt_says_why_and_raises_nothing(self, monkeypatch, capsys):
        answer = SimpleNamespace(returncode=100, stdout="", stderr="reading\nE: no network\n")
        monkeypatch.setattr(search.shutil, "which", lambda name: f"/bin/{name}")
        monkeypatch.setattr(search.os, "geteuid", lambda: 0, raising=False)
        monkeypatch.setattr(search.subprocess, "run", lambda *_, **__: answer)
        search.install_with_apt()
        output = capsys.readouterr().out
        for package in ("chromium-headless-shell", "chromium"):
            assert f"apt-get install -y {package} failed: E: no network" in output

    @pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the browser")
    def test_a_stub_that_only_gives_advice_is_no_browser(self, tmp_path):
        stub, real = tmp_path / "stub", tmp_path / "real"
        stub.write_text("#!/bin/sh\necho install the snap\nexit 1\n")
        real.write_text("#!/bin/sh\necho Chromium 1\n")
        stub.chmod(0o755), real.chmod(0o755)
        assert not search.starts(stub)
        assert search.starts(real)
        assert not search.starts(tmp_path / "missing")
        assert not search.starts(tmp_path)


class TestFixtures:
    """The fixtures of conftest.py, seen from outside: pytest runs a small test file and its verdict is read."""

    @pytest.fixture
    def outcome(self, pytester, monkeypatch):
        """Runs a test file under these fixtures, in a process of its own."""
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        pytester.makeini("[pytest]\nmarkers = browser\n slow\n")

        def run(source: str, conftest: str = "", **environment: str):
            for name in ("CI", search.VARIABLE):
                monkeypatch.delenv(name, raising=False)
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            pytester.makeconftest("from tests.conftest import *\nimport tests.conftest as base\n" + conftest)
            pytester.makepyfile(source)
            return pytester.runpytest_subprocess("-rs", "-p", "no:cacheprovider")

        return run

    nowhere = "base.find_browser = lambda: None\n"

    @pytest.mark.slow
    def test_no_browser_skips_with_the_reason(self, outcome):
        result = outcome("def test(browser): pass\n", self.nowhere)
        result.assert_outcomes(skipped=1)
        result.stdout.fnmatch_lines(["*no Chromium or Chrome found*HEADLIGHT_BROWSER*"])

    @pytest.mark.slow
    def test_no_browser_fails_in_ci(self, outcome):
        result = outcome("def test(browser): pass\n", self.nowhere, CI="true")
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*with CI set the browser tests must run*"])

    @pytest.mark.slow
    def test_a_wrong_variable_is_an_error_and_no_skip(self, outcome):
        result = outcome("def test(browser): pass\n", HEADLIGHT_BROWSER="/nowhere/chrome")
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*HEADLIGHT_BROWSER is '/nowhere/chrome'*"])

    @pytest.mark.slow
    def test_browser_tests_come_last_and_are_marked(self, outcome, pytester):
        outcome("def test_window(browser): pass\ndef test_plain(): pass\n", self.nowhere).assert_outcomes(
            passed=1, skipped=1
        )
        result = pytester.runpytest_subprocess("-m", "not browser", "-p", "no:cacheprovider")
        result.assert_outcomes(passed=1, deselected=1)

    @pytest.mark.slow
    def test_parts_hold_every_slow_test_once_and_all_quick_ones(self, outcome, pytester):
        pytester.makepyfile(
            **{f"test_{name}": f"import pytest\n@pytest.mark.slow\ndef test_{name}(): pass" for name in "abc"}
        )
        outcome("import pytest\ndef test_quick(): pass\n@pytest.mark.slow\ndef test_slow(): pass")
        runs = [pytester.runpytest_subprocess("-v", f"--part={part}/3").stdout.str() for part in (1, 2, 3)]
        passed = [re.findall(r"::(test_\w+) PASSED", run) for run in runs]
        assert sorted(sum(passed, [])) == sorted(["test_quick"] * 3 + ["test_slow", "test_a", "test_b", "test_c"])
        assert "'4/3' is no part" in pytester.runpytest_subprocess("--part=4/3").stderr.str()

    @pytest.mark.slow
    def test_caches_are_empty_again_after_each_test(self, outcome):
        source = """
            import streamlit as st
            calls = []
            @st.cache_data
            def number():
                calls.append(1)
                return 1
            def test_first(): number(); number(); assert len(calls) == 1
            def test_second(): number(); assert len(calls) == 2
        """
        outcome(source).assert_outcomes(passed=2)

    @pytest.mark.slow
    def test_a_page_that_misbehaves_fails_at_its_end(self, browser, outcome):
        # `browser` is asked for so that this test is skipped, too, where there is none.
        source = """
            def test_quiet(page): page.set_content("<p>well</p>")
            def test_loud(page): page.set_content("<script>console.error('a loud complaint')</script>")
        """
        app = """
import http.server, pytest, threading
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")
@pytest.fixture(scope="session")
def app_server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
"""
        result = outcome(source, app, **{search.VARIABLE: search.find_browser()})
        result.assert_outcomes(passed=2, errors=1)
        result.stdout.fnmatch_lines(["*console error: a loud complaint*"])


class TestGuard:
    """What the guard hears in a real browser, with two servers of this test for the app and for somewhere else."""

    @pytest.fixture
    def site(self):
        """Starts loopback servers that answer every path with one text."""
        running = []

        def start(text: str = "<p>hello</p>") -> str:
            class Answer(BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(404 if self.path == "/missing" else 200)
                    self.send_header("Content-Type", "text/html")
                    self.send_header("Access-Control-Allow-Origin", "*")
                    self.end_headers()
                    self.wfile.write(text.encode())

                def log_message(self, *_):
                    pass

            server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
            running.append(server)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            return f"http://127.0.0.1:{server.server_address[1]}"

        yield start
        for server in running:
            server.shutdown()
            server.server_close()

    @pytest.fixture
    def heard(self, browser):
        """Opens an address, does something there, and returns the guard."""
        contexts = []

        def visit(url: str, script: str = "1") -> Guard:
            guard = Guard(url)
            context = browser.new_context(service_workers="block")
            contexts.append(context)
            guard.watch(context)
            page = context.new_page()
            page.goto(url)
            page.evaluate(script)
            page.evaluate("new Promise(done => setTimeout(done, 100))")
            return guard

        yield visit
        for context in contexts:
            context.close()

    @pytest.mark.slow
    def test_a_quiet_page_passes(self, heard, site):
        picture = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
        url = site(f"<img src='{picture}'><script>console.warn('fine')</script>")
        guard = heard(url, "fetch('/more').then(() => fetch(URL.createObjectURL(new Blob(['x']))))")
        assert f"{url}/more" in guard.requests
        guard.check()

    @pytest.mark.slow
    def test_a_console_error_is_heard(self, heard, site):
        with pytest.raises(AssertionError, match="console error: broken"):
            heard(site(), "console.error('broken')").check()

    @pytest.mark.slow
    def test_an_exception_of_the_page_is_heard(self, heard, site):
        with pytest.raises(AssertionError, match="page error: .*thrown"):
            heard(site(), "setTimeout(() => { throw new Error('thrown') })").check()

    @pytest.mark.slow
    def test_a_promise_that_nobody_catches_is_heard(self, heard, site):
        with pytest.raises(AssertionError, match="page error: .*lost"):
            heard(site(), "void Promise.reject(new Error('lost'))").check()

    @pytest.mark.slow
    def test_a_missing_file_is_heard(self, heard, site):
        with pytest.raises(AssertionError, match="console error: .*404"):
            heard(site(), "fetch('/missing')").check()

    @pytest.mark.slow
    def test_a_request_to_another_port_is_heard_even_when_it_is_answered(self, heard, site):
        other = site()
        guard = heard(site(), f"fetch('{other}/data')")
        assert guard.errors == []
        with pytest.raises(AssertionError, match=f"request to another server than .*: {other}/data"):
            guard.check()

    @pytest.mark.slow
    def test_a_websocket_to_another_port_is_heard(self, heard, site):
        other = site().replace("http:", "ws:")
        guard = heard(site(), f"void new WebSocket('{other}/stream')")
        assert guard.foreign() == [f"{other}/stream"]

    @pytest.mark.slow
    def test_a_picture_a_frame_and_a_popup_from_another_server_are_heard(self, heard, site):
        other = site()
        page = f"<img src='{other}/picture'><iframe src='{other}/frame'></iframe>"
        guard = heard(site(page), f"void window.open('{other}/popup')")
        assert set(guard.foreign()) >= {f"{other}/picture", f"{other}/frame", f"{other}/popup"}

    @pytest.mark.slow
    def test_names_of_the_world_are_not_even_looked_up(self, heard, site):
        guard = heard(site(), "fetch('https://example.com/').catch(() => 0)")
        assert any("ERR_NAME_NOT_RESOLVED" in error for error in guard.errors)
        assert guard.foreign() == ["https://example.com/"]


class TestServer:
    """A Streamlit script is served for the length of a block, and gone afterwards."""

    @pytest.mark.slow
    def test_the_script_is_served_and_ended_with_what_it_started(self, tmp_path):
        script = tmp_path / "with spaces" / "hello.py"
        script.parent.mkdir()
        script.write_text("import streamlit as st\nst.write('hello')\n")
        with serve(script) as url:
            assert is_open(url)
        assert not is_open(url)

    @pytest.mark.slow
    def test_a_server_that_does_not_start_shows_what_it_printed(self, tmp_path):
        with pytest.raises(RuntimeError, match=r"(?s)missing\.py ended with \d+; it printed:.*missing\.py"):
            with serve(tmp_path / "missing.py"):
                pass


def is_open(url: str) -> bool:
    """Says whether something listens at an address."""
    import socket

    host, _, port = url.removeprefix("http://").partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
class TestMakefile:
    """`make` with a small imitation of Python, so that nothing is installed and every step is seen."""

    @pytest.fixture
    def project(self, tmp_path):
        """A copy of the Makefile in a folder with a space, and a Python that writes down what it is asked."""
        folder = tmp_path / "a folder"
        folder.mkdir()
        shutil.copy(ROOT / "Makefile", folder)
        (folder / "requirements.txt").write_text("torch\n")
        (folder / "requirements-dev.txt").write_text("-r requirements.txt\npytest\n")
        python = folder / "python"
        python.write_text(FAKE_PYTHON)
        python.chmod(0o755)

        def make(*arguments: str, **environment: str) -> SimpleNamespace:
            log = folder / "log"
            log.write_text("")
            ours = ("MAKE", "MFLAGS", "SLOW", "PART", "WORKERS")  # of the make that runs this test
            clean = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
            answer = subprocess.run(
                ["make", f"PYTHON={folder / 'python'}", *arguments],
                cwd=folder,
                env=clean | {"LOG": str(log)} | environment,
                capture_output=True,
                text=True,
                check=False,
            )
            commands = log.read_text().splitlines()
            steps = [line for line in commands if not line.startswith("-c")]
            return SimpleNamespace(
                code=answer.returncode, out=answer.stdout, err=answer.stderr, steps=steps, commands=commands
            )

        return SimpleNamespace(make=make, folder=folder)

    install = "-m pip install --disable-pip-version-check --no-compile -r requirements.txt"
    install_dev = "-m pip install --disable-pip-version-check --no-compile -r requirements-dev.txt"
    venv = "-m venv --clear .venv"
    serve = "-m streamlit run app.py --server.address 127.0.0.1 --server.port 8501"

    def test_run_sets_up_once(self, project):
        assert project.make("run").steps == [self.venv, self.install, self.serve]
        assert project.make("run").steps == [self.serve]

    def test_python_may_compile_what_it_imports_even_where_it_was_told_not_to(self, project):
        """Else every start of the app, and of each process that a test starts, compiles a thousand modules."""
        assert not any("DONTWRITE" in line for line in project.make("run", PYTHONDONTWRITEBYTECODE="1").commands)

    def test_run_installs_again_when_the_requirements_change(self, project):
        project.make("run")
        (project.folder / "requirements.txt").write_text("torch\nnumpy\n")
        assert project.make("run").steps == [self.install, self.serve]
        assert project.make("run").steps == [self.serve]

    @pytest.mark.parametrize(
        ("settings", "environment", "left_out"),
        [
            ([], {"CI": ""}, "-m not slow "),
            (["SLOW=1"], {"CI": ""}, ""),
            ([], {"CI": "true"}, ""),
            (["PART=2/4"], {"CI": "true"}, "--part 2/4 "),
        ],
    )
    def test_test_looks_for_a_browser_and_passes_arguments_on(self, project, settings, environment, left_out):
        steps = project.make("test", *settings, "PYTEST_ARGS=-k masks -x", **environment).steps
        tests = f"-m pytest -n 3 --dist worksteal {left_out}-k masks -x"
        assert steps == [self.venv, self.install_dev, "-m benchmarks.support.browser", tests]
        assert project.make("run").steps == [self.serve]

    def test_port_and_flags_for_pip_pass_through(self, project):
        steps = project.make("run", "PORT=9000", "PIP_FLAGS=--no-cache-dir --quiet").steps
        assert steps[1].startswith("-m pip install --disable-pip-version-check --no-compile --no-cache-dir --quiet -r")
        assert steps[2].endswith("--server.port 9000")

    def test_a_class_is_served_on_a_port_of_its_own(self, project):
        steps = project.make("serve", "HOSTS=classroom.lan,192.168.1.20").steps
        assert steps[-1] == "-m viz serve --hosts classroom.lan,192.168.1.20 --replicas 2 --port 8080"
        steps = project.make("serve", "HOSTS=classroom.lan", "REPLICAS=3", "PORT=80").steps
        assert steps[-1] == "-m viz serve --hosts classroom.lan --replicas 3 --port 80"

    def test_a_failing_pip_is_told_and_what_is_there_is_kept(self, project):
        project.make("run")
        assert project.make("test", PIP_FAILS="1").code == 2
        assert project.make("run").steps == [self.serve]
        assert self.install_dev in project.make("test").steps

    @pytest.mark.parametrize("remains", ["", "bin"])
    def test_an_environment_without_a_python_is_made_again(self, project, remains):
        (project.folder / ".venv" / remains).mkdir(parents=True)
        assert project.make("run").steps == [self.venv, self.install, self.serve]

    @pytest.mark.parametrize("lack", [["OLD=1"], ["PYTHON=no-such-python"]])
    def test_a_python_that_will_not_do_is_one_sentence(self, project, lack):
        answer = project.make("run", *lack)
        assert answer.code == 2 and answer.steps == []
        assert "Headlight needs Python 3.11 or newer with its module venv" in answer.err
        assert "make run PYTHON=" in answer.err and not (project.folder / ".venv").exists()

    @pytest.mark.parametrize("goal", ["run", "serve", "test", "lint", "messages"])
    def test_what_would_be_done_can_be_asked(self, project, goal):
        answer = project.make("-n", goal)
        assert answer.code == 0 and "pip install" in answer.out and answer.commands == []

    def test_clean_removes_what_was_made_and_nothing_else(self, project):
        project.make("run")
        cache = project.folder / "model" / "__pycache__"
        cache.mkdir(parents=True)
        assert project.make("clean").code == 0
        assert not cache.exists()
        left = {"Makefile", "requirements.txt", "requirements-dev.txt", "python", "log", "model"}
        assert {path.name for path in project.folder.iterdir()} == left


# Writes down its arguments; answers the questions of the Makefile; `-m venv` copies it, which makes it the
# environment's own Python.
FAKE_PYTHON = """#!/bin/sh
[ -z "${PYTHONDONTWRITEBYTECODE+set}" ] || echo "-c PYTHONDONTWRITEBYTECODE is set" >> "$LOG"
case "$*" in
  *"import ensurepip"*) [ -z "$OLD" ]; exit ;;
  "-m pip --version") exit ;;
esac
echo "$@" >> "$LOG"
case "$*" in
  "-m venv --clear .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  "-m pip install"*) [ -z "$PIP_FAILS" ] ;;
esac
"""


class TestConfiguration:
    """The settings that keep the app on this machine, and files that must not say where they were made."""

    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))

    def test_streamlit_knows_every_setting(self):
        from streamlit import config

        options = config.get_config_options()
        assert [name for name in names_of(self.settings) if name not in options] == []

    def test_the_app_is_served_to_this_machine_only_and_reports_to_nobody(self):
        assert self.settings["server"]["address"] == "127.0.0.1"
        assert "allowedHosts" not in self.settings["server"]  # viz/app/guard.py knows more names
        assert self.settings["browser"]["gatherUsageStats"] is False
        assert self.settings["client"]["showErrorLinks"] is False
        assert self.settings["server"]["enableCORS"] is self.settings["server"]["enableXsrfProtection"] is True
        assert 0 < self.settings["server"]["maxUploadSize"] <= 200

    def test_what_is_remembered_for_visitors_has_the_size_that_the_page_on_serving_says(self):
        from streamlit.byte_util import config_max_cache_data_size_to_bytes as in_bytes

        size = in_bytes(self.settings["server"].get("maxCacheDataSize"))
        page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
        match = re.search(r"remembered for all takes at most (\d+) MB", page)
        assert match and size == int(match[1]) << 20

    def test_what_the_proxy_is_told_in_containers_is_what_make_tells_it(self):
        variables = set(re.findall(r"\{\$(\w+)(?::[^}]*)?\}", (ROOT / "Caddyfile").read_text(encoding="utf-8")))
        variables |= {replicas.HOSTS, replicas.SECRET, replicas.SITE_URL}
        assert set(re.findall(r"^ +([A-Z_]+): ", (ROOT / "compose.yaml").read_text(), re.M)) == variables | {
            "TORCH_INDEX"
        }
        assert all(name in Path(replicas.__file__).read_text(encoding="utf-8") for name in variables)

    def test_the_compose_file_starts_what_the_proxy_is_sent_to(self):
        compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
        app, proxy = compose["services"]["app"], compose["services"]["proxy"]
        assert set(compose) == {"name", "services", "volumes"} and set(proxy["depends_on"]) == {"app"}
        docker = (ROOT / app["build"]["context"] / "Dockerfile").read_text(encoding="utf-8")
        assert all(f"ARG {name}" in docker for name in app["build"]["args"])
        port = re.search(r"^EXPOSE (\d+)$", docker, re.M)[1]
        sent_to = proxy["environment"]["HEADLIGHT_REPLICAS"].split()
        assert sent_to == ["to", *(f"{compose['name']}-app-{number}:{port}" for number in range(1, 9))]
        sources = {volume.split(":")[0] for volume in proxy["volumes"]}
        assert {name for name in sources if not name.startswith(".")} == set(compose["volumes"])
        assert all((ROOT / name).is_file() for name in sources if name.startswith("."))
        assert all(re.fullmatch(r"(\$\{[A-Z]+:-\d+\}|\d+):\d+", text) for text in proxy["ports"])

    @pytest.mark.skipif(not shutil.which("caddy"), reason="the proxy Caddy is not installed")
    @pytest.mark.parametrize("site", [":80", "headlight.example.org"])
    def test_caddy_takes_the_settings_of_the_proxy(self, site):
        compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
        replicas_of = compose["services"]["proxy"]["environment"]["HEADLIGHT_REPLICAS"]
        environment = {"HEADLIGHT_SITE": site, "HEADLIGHT_REPLICAS": replicas_of}
        command = ["caddy", "validate", "--config", ROOT / "Caddyfile", "--adapter", "caddyfile"]
        checked = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
        assert checked.returncode == 0 and "Valid configuration" in checked.stdout + checked.stderr, checked.stderr

    @pytest.mark.parametrize("mode", ["light", "dark"])
    def test_text_can_be_read_in_light_and_dark(self, mode):
        theme = self.settings["theme"][mode]
        for background in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
            assert contrast(theme["textColor"], background) >= 7
            assert contrast(theme["linkColor"], background) >= 4.5
            assert contrast(theme["primaryColor"], background) >= 4.5

    def test_every_requirement_is_a_pin_and_nothing_says_where_packages_come_from(self):
        for name in ("requirements.txt", "requirements-dev.txt"):
            lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
            pinned = re.compile(r"[a-z0-9-]+==[0-9.]+|-r requirements\.txt|")
            assert [line for line in lines if not pinned.fullmatch(line)] == []


def names_of(table: dict, prefix: str = "") -> list[str]:
    """Lists the dotted names of a nested table."""
    names = []
    for key, value in table.items():
        names += names_of(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
    return names


def luminance(colour: str) -> float:
    """Returns the relative luminance of #rrggbb (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Returns the contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)
