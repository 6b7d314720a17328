# Two commands matter: `make reproduce` and `make test`. Each does all its own set-up.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
PEERS := .venv-bench/ready
BRIAN2 := .venv-brian2/ready
INSTALL := -m pip install --quiet --disable-pip-version-check
PIP := $(INSTALL) --constraint

.PHONY: reproduce test test-brian2 fuzz mutants lint bench docs clean setup lock audit

reproduce: $(READY)
	$(BIN)/springback reproduce

# Two processes with one thread each: the threads of two libraries would wait for each other on the same two cores.
test: lint
	@tools/need chromium; tools/need mosquitto
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

# Brian2 cannot be imported with the NumPy of the lock, so the tests that call it have an environment of their own.
test-brian2: $(BRIAN2)
	.venv-brian2/bin/pytest tests/spiking/test_exchange.py tests/spiking/test_reference.py tests/circuits/test_brian2.py

# Damaged files of every format, by default 100,000 of each (CASES=1000000 for more): none may crash, hang or be taken.
CASES ?= 100000
fuzz: $(READY)
	PYTHONPATH=. $(BIN)/python -m tests.fuzz.campaign --cases $(CASES)
	PYTHONPATH=. $(BIN)/python -m tests.studio.message_fuzz $(CASES)
	PYTHONPATH=. $(BIN)/python -m tests.fuzz.kills --kills 200

# Changes in the sources of elastic/ and spiking/, one at a time: does a test notice? SAMPLE=all tries every one, for days.
SAMPLE ?= 300
SEED ?= 0
mutants: $(READY)
	tools/mutants --sample $(SAMPLE) --seed $(SEED)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY) $(PEERS)
	@tools/need valgrind
	$(BIN)/springback bench

docs: $(READY)
	$(BIN)/python docs/building/gallery.py
	$(BIN)/python docs/building/theory_pictures.py
	$(BIN)/python docs/building/notebooks.py
	$(BIN)/python docs/building/guide_notebooks.py
	$(BIN)/python docs/building/commands.py
	$(BIN)/pytest README.md docs tests/docs tests/test_examples.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv .venv-bench .venv-brian2 .venv-lock .venv-audit .venv-mutants mutants build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

setup: $(READY)

# Everything comes as the lock has it, byte for byte; only torch is the build that this machine's index offers.
$(READY): pyproject.toml requirements.lock constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { echo "make needs Python 3.11.5 or newer; set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) --require-hashes --requirement requirements.lock
	$(BIN)/python $(PIP) constraints.txt torch
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

# Versions and hashes anew from pyproject.toml; known weaknesses of those versions.
lock:
	tools/lock

audit:
	tools/audit

# The simulators that springback is measured against. BindsNET asks for far more than it needs here, so it comes alone.
$(PEERS): benchmarks/constraints.txt $(READY)
	@tools/need g++ && tools/need cmake
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python $(PIP) benchmarks/constraints.txt brian2 torch scikit-learn tqdm
	.venv-bench/bin/python $(PIP) benchmarks/constraints.txt --no-deps bindsnet
	.venv-bench/bin/python $(PIP) benchmarks/constraints.txt annarchy || echo "ANNarchy could not be installed: it will be reported as absent"
	.venv-bench/bin/python $(PIP) benchmarks/constraints.txt neurosush || echo "neuroSush could not be installed: it will be reported as absent"
	touch $@

$(BRIAN2): benchmarks/constraints.txt pyproject.toml
	test -x .venv-brian2/bin/python || $(PYTHON) -m venv .venv-brian2
	.venv-brian2/bin/python $(PIP) benchmarks/constraints.txt brian2 hypothesis pytest pytest-xdist pytest-timeout pytest-randomly --editable .
	touch $@
