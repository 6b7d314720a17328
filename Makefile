# Two commands matter: `make reproduce` and `make test`. Each does all its own set-up.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
REPRODUCE := .venv/ready-to-reproduce
PEERS := .venv-bench/ready
OPTIONAL := .venv-optional/ready
SPARK := .venv-spark/ready
INSTALL := -m pip install --quiet --disable-pip-version-check
PIP := $(INSTALL) --constraint

# Without bytecode, every process that the tests start would compile all of its imports again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test test-more test-optional test-spark fuzz mutants lint compiled bench docs clean setup lock audit

reproduce: $(REPRODUCE)
	$(BIN)/springback reproduce

# Two processes with one thread each: the threads of two libraries would wait for each other on the same two cores.
test: $(READY)
	@tools/need chromium; tools/need mosquitto
	@$(MAKE) --no-print-directory --jobs 2 lint compiled
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

# What both processes of the tests would compile otherwise, each for itself.
compiled: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.compiled_runs

# What takes minutes: other processors, which are pretended, and the longest campaigns.
test-more: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -m more

# The tests of libraries that the lock cannot have: they ask for older versions of NumPy, or for one version of torch.
test-optional: $(OPTIONAL)
	.venv-optional/bin/pytest -ra tests/spiking/test_exchange.py tests/spiking/test_reference.py tests/spiking/composed/test_brian2.py \
	    tests/torch/test_executorch_export.py tests/bench/rivals/networks/test_torch_ttt.py tests/streaming/test_time_stamps.py tests/heads/test_supervision.py

# Streams on Apache Spark, which has no wheel, is 450 MB and wants an older pandas; 5 minutes.
test-spark: $(SPARK)
	@tools/need java openjdk-17-jre-headless
	OMP_NUM_THREADS=1 .venv-spark/bin/pytest -ra tests/live/spark

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
	$(BIN)/python docs/building/tables.py
	$(BIN)/pytest README.md docs tests/docs tests/test_examples.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv .venv-bench .venv-optional .venv-spark .venv-lock .venv-audit .venv-mutants mutants build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

setup: $(READY)

$(READY): pyproject.toml requirements.lock constraints.txt tools/install
	PYTHON=$(PYTHON) tools/install requirements.lock
	touch $@ $(REPRODUCE)

$(REPRODUCE): pyproject.toml reproduce.lock constraints.txt tools/install
	PYTHON=$(PYTHON) tools/install reproduce.lock
	touch $@

# Versions and hashes anew from pyproject.toml, and whether they can be had on every Python and platform; known weaknesses of them.
lock:
	tools/lock

audit:
	tools/audit

# The simulators that springback is measured against. BindsNET asks for far more than it needs here, so it comes alone.
$(PEERS): src/springback_bench/speed/peers/constraints.txt $(READY)
	@tools/need g++ && tools/need cmake
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt brian2 torch scikit-learn tqdm
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt --no-deps bindsnet
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt annarchy || echo "ANNarchy could not be installed: it will be reported as absent"
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt neurosush || echo "neuroSush could not be installed: it will be reported as absent"
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt nest-simulator || echo "NEST could not be installed: it will be reported as absent"
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt pymonntorch superneuromat numba || echo "PymoNNtorch or SuperNeuroMAT could not be installed: it will be reported as absent"
	.venv-bench/bin/python $(PIP) src/springback_bench/speed/peers/constraints.txt spyx || echo "spyx could not be installed: it will be reported as absent"
	touch $@

# torch-ttt comes alone: it asks for torchvision, which its test does without.
$(OPTIONAL): tests/optional.txt pyproject.toml
	test -x .venv-optional/bin/python || $(PYTHON) -m venv .venv-optional
	.venv-optional/bin/python $(PIP) tests/optional.txt torch
	.venv-optional/bin/python $(PIP) tests/optional.txt brian2 einops elephant executorch pandas polars supervision tonic \
	    hypothesis pytest pytest-timeout pytest-randomly onnx onnxscript onnxruntime --editable '.[neo,nwb]'
	.venv-optional/bin/python $(PIP) tests/optional.txt --no-deps torch-ttt
	touch $@

$(SPARK): tests/spark.txt pyproject.toml
	test -x .venv-spark/bin/python || $(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python $(PIP) tests/spark.txt hypothesis onnx onnxruntime psutil pytest pytest-timeout pytest-randomly --editable '.[spark]'
	touch $@
