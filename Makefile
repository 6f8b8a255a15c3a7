# `make demo` and `make test` are all a newcomer needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench docs soak install system clean help

help:
	@echo "make demo   set everything up and show the main job on made-up data"
	@echo "make test   set everything up and run all tests (make soak: the long ones)"
	@echo "make lint   ruff and mypy      make bench   speed against other miners      make docs   the documentation"

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "discreet needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

install: $(STAMP)

demo: install
	$(BIN)/discreet demo

# What tests need from the system: a PostgreSQL server to read from.
system:
	@sh tests/system.sh

test: install system lint
	$(BIN)/python -m pytest -n 2 -m "not slow"
	DISCREET_JIT=0 $(BIN)/python -m pytest -n 2 -m "not slow" tests/kernels tests/exact/test_mine.py

soak: install system
	$(BIN)/python -m pytest -m slow

lint: install
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/mypy

bench: install
	$(BIN)/python -m benchmarks.mining

docs: install
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf $(VENV) docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
