# Headlight: `make run` opens the app, `make test` proves that it works. Everything that is installed lives in .venv.
#
#   make run                                  set up .venv and serve the app on http://127.0.0.1:8501
#   make run PORT=9000                        on another port
#   make run PIP_FLAGS="--extra-index-url .." more flags for pip, for example where to find another torch
#   make run PYTHON=/path/to/python3          another Python, 3.11 or newer (looked at when .venv is made)
#   make serve HOSTS=classroom.lan            serve a class: replicas of the app and the site behind Caddy, docs/serving.md
#   make serve HOSTS=.. REPLICAS=2 PORT=8080  with two of them, and on that port
#   make test                                 set up .venv and a browser, run the tests but those marked as slow
#   make test SLOW=1                          run every test
#   make test SLOW=1 PART=2/6                 the quick ones and a sixth of the slow ones, as CI does
#   make test PYTEST_ARGS="-k masks -x"       or some of them
#   make test WORKERS=0                       in one process instead of three at a time
#   make lint                                 what ruff has to say, and of types tsc and pyright
#   make messages                             bring the catalogues of other languages in step with the code
#   make clean                                remove .venv and what the tools leave behind

PYTHON ?= python3
PORT ?= 8501
PIP_FLAGS ?=
PYTEST_ARGS ?=
SLOW ?= $(CI)
PART ?=
WORKERS ?= 3
HOSTS ?=
REPLICAS ?= 2

# Without compiled files every start compiles a thousand modules again, which takes longer than all the rest of it.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
# Tools are started as `python -m tool`: the start lines of the scripts in .venv/bin break when the folder is moved.
PY := $(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help run serve test lint messages clean

help:
	@sed -n '3,16s/^#   //p' Makefile

run: $(VENV)/installed
	@exec "$(PY)" -m streamlit run app.py --server.address 127.0.0.1 --server.port "$(PORT)"

serve: PORT = 8080
serve: $(VENV)/installed
	@exec "$(PY)" -m viz serve --hosts "$(HOSTS)" --replicas "$(REPLICAS)" --port "$(PORT)"

test: $(VENV)/installed-dev
	@"$(PY)" -m benchmarks.support.browser
	@"$(PY)" -m pytest -n "$(WORKERS)" --dist worksteal $(if $(SLOW),$(PART:%=--part %),-m "not slow") $(PYTEST_ARGS)

lint: $(VENV)/installed-dev
	@"$(PY)" -m ruff check .
	@"$(PY)" -m tests.support.javascript
	@"$(PY)" -m tests.support.python_types

messages: $(VENV)/installed
	@"$(PY)" -m viz.text.extract

# Empty files that say when the requirements were installed. An environment whose Python or pip does not start is made
# again. pip compiles nothing: that takes a third of the time, for files of which most are never imported.
$(VENV)/installed: requirements.txt
$(VENV)/installed-dev: requirements-dev.txt requirements.txt
$(VENV)/installed $(VENV)/installed-dev:
	@"$(PY)" -m pip --version >/dev/null 2>&1 || { \
	  "$(PYTHON)" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "Headlight needs Python 3.11 or newer with its module venv (on Debian or Ubuntu: apt-get install" >&2; \
	    echo "python3-venv), and '$(PYTHON)' is not: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 2; }; \
	  echo "making $(VENV)"; "$(PYTHON)" -m venv --clear "$(VENV)"; }
	@"$(PY)" -m pip install --disable-pip-version-check --no-compile $(PIP_FLAGS) -r "$<"
	@touch "$@" "$(VENV)/installed"  # the longer list contains the shorter one

clean:
	rm -rf "$(VENV)" .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
