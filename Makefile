# What a fresh machine needs: Python 3.11 or newer, git and make.
#   make demo    see it work on the shipped example sessions
#   make test    run the tests

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: help demo test test-model test-hosts check bench bench-week bench-million peers docs lock clean

help:
	@sed -n 's/^#   //p' Makefile
	@echo "make test-model  ask a real, very small model, which is downloaded (130 MB)"
	@echo "make test-hosts  run Lamina in real agent programs, which are downloaded (HOSTS=\"codex gemini\" chooses)"
	@echo "make check   style, types and import contracts"
	@echo "make bench   measure speed, as ratios to this machine"
	@echo "make bench-week   count what a week of work asks of a model, and what is saved"
	@echo "make bench-million   the same with a million entries (a quarter of an hour and more)"
	@echo "make peers   measure search beside other tools, which it installs (a quarter of an hour)"
	@echo "make docs    write the generated pages of docs/ anew"

$(VENV)/run.ok: requirements/run.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Lamina needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
		echo "Python's venv module is missing: on Debian or Ubuntu, apt-get install python3-venv"; rm -rf $(VENV); exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.ok: requirements/dev.txt $(VENV)/run.ok
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(VENV)/run.ok
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: $(VENV)/dev.ok
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-model: $(VENV)/dev.ok
	@$(BIN)/python -m pytest -m model tests/models/test_small.py $(ARGS)

test-hosts: $(VENV)/dev.ok
	@$(BIN)/python -m tests.clients.run --hosts "$(HOSTS)" $(ARGS)

check: $(VENV)/dev.ok
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/dev.ok
	@$(BIN)/python -m benchmarks $(ARGS)

bench-week: $(VENV)/dev.ok
	@$(BIN)/python -m benchmarks.week $(ARGS)

bench-million: $(VENV)/dev.ok
	@$(BIN)/python -m benchmarks.million $(ARGS)

peers: $(VENV)/dev.ok
	@$(BIN)/python -m benchmarks.peers $(ARGS)

docs: $(VENV)/dev.ok
	@$(BIN)/python docs/generate.py

lock: $(VENV)/dev.ok
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate pyproject.toml --group build -o requirements/run.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate pyproject.toml --group dev -o requirements/dev.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
