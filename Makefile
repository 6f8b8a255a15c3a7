# `make demo` and `make test` are all a newcomer needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MADE := $(VENV)/.made
BASE := $(VENV)/.base
FULL := $(VENV)/.full
PIP := 26.3

.PHONY: demo test lint bench evidence docs soak lock install clean help

help:
	@echo "make demo   set everything up and show the main job on made-up data"
	@echo "make test   set everything up and run all tests (make soak: the long ones)"
	@echo "make lint   ruff and mypy      make docs   the documentation      make lock   renew what make test installs"
	@echo "make bench  speed against other miners, and of releases     make evidence   what mechanisms find, beside their papers"

$(MADE): Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "discreet needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'pip==$(PIP)'
	@touch $@

# What users install: the ranges of pyproject.toml.
$(BASE): $(MADE) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# What tests need: the files of requirements.lock, by their hashes, where that was made for this Python.
# PyFIM has to be compiled: where that fails, comparisons with it are skipped.
$(FULL): $(MADE) pyproject.toml requirements.lock requirements-compiled.lock
	@PYTHON=$(PYTHON) sh tests/system.sh
	$(BIN)/python tests/lock.py install
	@$(BIN)/python tests/lock.py compile || echo "PyFIM cannot be compiled here; its tests are skipped."
	@touch $(BASE) $@

install: $(FULL)

demo: $(BASE)
	$(BIN)/discreet demo

test: install lint
	$(BIN)/python -m pytest -n 2 -m "not slow"
	DISCREET_JIT=0 $(BIN)/python -m pytest -n 2 -m "not slow" tests/kernels tests/exact/test_mine.py

soak: install
	$(BIN)/python -m pytest -m slow

# Newer versions within the ranges of pyproject.toml, for this Python and this kind of machine.
lock: $(MADE)
	$(BIN)/python tests/lock.py write

lint: install
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy

bench: install
	$(BIN)/python -m pip install --quiet --editable ".[peers]"
	$(BIN)/python -m benchmarks.mining
	$(BIN)/python -m benchmarks.private
	$(BIN)/python -m benchmarks.selection
	$(BIN)/python -m benchmarks.oracles
	$(BIN)/python -m benchmarks.devices

# Takes long: every mechanism on many data sets, ten seeds each.
evidence: install
	$(BIN)/python -m benchmarks.evidence
	$(BIN)/python -m benchmarks.local

docs: install
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf $(VENV) docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
