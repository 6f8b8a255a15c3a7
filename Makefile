# `make demo` and `make test` are all a newcomer needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MADE := $(VENV)/.made
BASE := $(VENV)/.base
FULL := $(VENV)/.full
PIP := 26.3
TESTS := -m pytest -n 2 -m "not slow"
# What also runs with kernels as plain Python; tests of the compiler itself say how each of their programs runs.
PLAIN := tests/kernels tests/exact/test_mine.py --ignore tests/kernels/test_jit.py

.PHONY: demo demo-study test quick clients coverage matrix hooks news release container lint bench evidence docs soak lock install clean help

help:
	@echo "make demo   set everything up and show the main job on made-up data"
	@echo "make demo-study   a live study with 20,000 simulated people, and its service left up with the result"
	@echo "make test   set everything up and run all tests (make soak: the long ones)"
	@echo "make clients   build the TypeScript client, where Node is"
	@echo "make quick  the tests of a minute      make hooks   run them, ruff and mypy before each commit"
	@echo "make lint   ruff and mypy      make docs   the documentation      make lock   renew what make test installs"
	@echo "make coverage   what tests reach      make matrix   every Python, and the lowest versions of what we need"
	@echo "make news   put the fragments in changes/ together      make release   make wheel and sdist, and check them"
	@echo "make container   build the image and try it, where Docker is"
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

# What tests need: the files of requirements.lock, by their hashes, where that was made for this Python; and the lab, which has
# a distribution of its own.
# PyFIM has to be compiled: where that fails, comparisons with it are skipped.
$(FULL): $(MADE) pyproject.toml lab/pyproject.toml requirements.lock requirements-compiled.lock
	@PYTHON=$(PYTHON) sh tests/system.sh
	$(BIN)/python tests/lock.py install
	@$(BIN)/python tests/lock.py compile || echo "PyFIM cannot be compiled here; its tests are skipped."
	@touch $(BASE) $@

install: $(FULL)

demo: $(BASE)
	$(BIN)/discreet demo

# A live study with 20,000 simulated people, through all rounds; its service stays up with the result until Ctrl-C.
demo-study: $(MADE) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[server]'
	$(BIN)/python -m benchmarks.demo_study

# Kernels are compiled once here and kept: each of pytest's workers would compile them anew.
test: install lint clients
	$(BIN)/discreet warmup
	$(BIN)/python $(TESTS)
	DISCREET_JIT=0 $(BIN)/python $(TESTS) $(PLAIN)

# Where there is no Node the tests of it are skipped. What the page of a study runs in a browser is made of it too.
clients:
	@sh tests/clients/build.sh

# Which tests these are is said in tests/quick.txt and nowhere else.
quick: install
	$(BIN)/python -m pytest -n 2 -m "not slow" @tests/quick.txt

# As `make test` runs them; the floor is in pyproject.toml. Programs that may write no file, or whose system calls fail, cannot
# be watched: tests of them fail here (status 1), and `make test` says whether they pass.
coverage: install clients
	$(BIN)/coverage erase
	$(BIN)/coverage run $(TESTS) || [ $$? -eq 1 ]
	DISCREET_JIT=0 $(BIN)/coverage run $(TESTS) $(PLAIN) || [ $$? -eq 1 ]
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# All Pythons that are here; ONLY=3.12 asks for one, which then has to be here.
matrix:
	$(PYTHON) tests/matrix.py $(ONLY)

hooks: install
	$(BIN)/python -m pip install --quiet --group hooks
	$(BIN)/pre-commit install

# VERSION=0.2.0 makes what is unreleased the section of that version.
news: install
	$(BIN)/python tests/news.py write $(VERSION)

# Nothing is uploaded.
release: install clients
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python tests/shipping.py

container:
	@sh tests/container.sh

soak: install clients
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
	$(BIN)/python -m benchmarks.screening
	$(BIN)/python -m benchmarks.poisoning

docs: install
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf $(VENV) .matrix docs/_build build dist .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
