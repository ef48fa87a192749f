# Headlight: `make run` opens the app, `make test` proves that it works. Everything that is installed lives in .venv.
#
#   make run                                  set up .venv and serve the app on http://127.0.0.1:8501
#   make run PORT=9000                        on another port
#   make run PIP_FLAGS="--extra-index-url .." more flags for pip, for example where to find another torch
#   make run PYTHON=/path/to/python3          another Python, 3.11 or newer (looked at when .venv is made)
#   make serve HOSTS=classroom.lan            serve a class: replicas of the app behind the proxy Caddy, docs/serving.md
#   make serve HOSTS=.. REPLICAS=2 PORT=8080  with so many, and on that port
#   make test                                 set up .venv and a browser, run every test
#   make test PYTEST_ARGS="-k masks -x"       or some of them
#   make test WORKERS=0                       in one process instead of two at a time
#   make lint                                 what ruff has to say
#   make messages                             bring the catalogues of other languages in step with the code
#   make clean                                remove .venv and what the tools leave behind

PYTHON ?= python3
PORT ?= 8501
PIP_FLAGS ?=
PYTEST_ARGS ?=
WORKERS ?= 2
HOSTS ?=
REPLICAS ?= 2

# Without compiled files every start compiles a thousand modules again, which takes longer than all the rest of it.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
# Tools are started as `python -m tool`: the start lines of the scripts in .venv/bin break when the folder is moved.
PY := $(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help run serve test lint messages venv venv-dev clean

help:
	@sed -n '3,14s/^#   //p' Makefile

run: venv
	@exec "$(PY)" -m streamlit run app.py --server.address 127.0.0.1 --server.port "$(PORT)"

serve: PORT = 8080
serve: venv
	@exec "$(PY)" -m viz serve --hosts "$(HOSTS)" --replicas "$(REPLICAS)" --port "$(PORT)"

test: venv-dev
	@"$(PY)" -m benchmarks.support.browser
	@"$(PY)" -m pytest -n "$(WORKERS)" --dist worksteal $(PYTEST_ARGS)

lint: venv-dev
	@"$(PY)" -m ruff check .

messages: venv
	@"$(PY)" -m viz.text.extract

# $(call install,the requirements files,the record of what is installed)
# Does nothing when the record equals the requirements. `installing` holds the number of the process that installs:
# while that process lives it is waited for; if it was killed the environment may be half made, and is made again.
# pip failing by itself (no network, say) leaves a usable environment, which is kept. pip compiles nothing: that took a
# third of the time, for files of which most are never imported. Importing the app once compiles those that are.
define install
	@set -e; busy="$(VENV)/installing"; \
	if [ -f "$$busy" ] && kill -0 "$$(cat "$$busy")" 2>/dev/null; then \
	  echo "waiting for process $$(cat "$$busy"), which installs into $(VENV)"; \
	  while [ -f "$$busy" ] && kill -0 "$$(cat "$$busy")" 2>/dev/null; do sleep 1; done; \
	fi; \
	if [ -f "$$busy" ] || ! "$(PY)" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  if ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Headlight needs Python 3.11 or newer and '$(PYTHON)' is not: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 2; \
	  fi; \
	  if ! "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "Headlight needs the venv module, which '$(PYTHON)' lacks: apt-get install python3-venv on Debian or Ubuntu" >&2; exit 2; \
	  fi; \
	  echo "making $(VENV)"; rm -rf "$(VENV)"; mkdir "$(VENV)"; echo $$$$ > "$$busy"; \
	  "$(PYTHON)" -m venv "$(VENV)"; rm -f "$$busy"; \
	fi; \
	if ! cat $(1) | cmp -s - "$(VENV)/$(2)"; then \
	  trap 'exit 130' INT TERM HUP; echo $$$$ > "$$busy"; rm -f "$(VENV)/$(2)"; \
	  if "$(PY)" -m pip install --disable-pip-version-check --no-compile $(PIP_FLAGS) -r $(lastword $(1)); then \
	    "$(PY)" -c 'import streamlit.web.cli, app, viz.ui.explore' >/dev/null 2>&1 || true; \
	    cat $(1) > "$(VENV)/$(2)"; rm -f "$$busy"; \
	  else \
	    rm -f "$$busy"; echo "pip could not install $(lastword $(1)); its own words are above" >&2; exit 2; \
	  fi; \
	fi
endef

venv:
	$(call install,requirements.txt,installed)

# The longer list contains the shorter one, so that `make run` after `make test` has nothing to do.
venv-dev:
	$(call install,requirements.txt requirements-dev.txt,installed-dev)
	@cp requirements.txt "$(VENV)/installed"

clean:
	rm -rf "$(VENV)" .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
