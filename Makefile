# Two commands matter: `make reproduce` and `make test`. Each does all its own set-up.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: reproduce test lint bench docs clean setup

reproduce: $(READY)
	$(BIN)/springback reproduce

test: lint
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	$(BIN)/python docs/building/gallery.py
	$(BIN)/python docs/building/theory_pictures.py
	$(BIN)/python docs/building/commands.py
	$(BIN)/pytest README.md docs tests/docs tests/test_examples.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv .venv-bench build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

setup: $(READY)

$(READY): pyproject.toml constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "springback needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench,torch,cluster,studio,docs]'
	touch $@
