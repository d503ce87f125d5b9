# Everything a contributor runs. Each target makes the environment it needs.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests compile thousands of tiny programs: optimising them costs more than it saves.
FLAGS := --xla_backend_optimization_level=0
TEST_ENV := XLA_FLAGS="$(FLAGS) $(XLA_FLAGS)" OMP_NUM_THREADS=1
# XLA's older emitters compile in half the time, and their last digits are not the ones that users get: what measures
# digits runs with the default emitters. From JAX 0.11.1 on, XLA has no older ones, and an unknown flag ends the process.
FAST = $(if $(shell ls -d $(VENV)/lib/python3.*/site-packages/jaxlib-0.10.* 2>/dev/null),--xla_cpu_use_fusion_emitters=false) \
	--xla_llvm_disable_expensive_passes=true --xla_cpu_parallel_codegen_split_count=1
# The compiler of TPUs, not where JAX would look for it: JAX would try to start a TPU in every process.
LIBTPU := $(VENV)/libtpu/libtpu/libtpu.so
FAST_ENV = XLA_FLAGS="$(FLAGS) $(FAST) $(XLA_FLAGS)" OMP_NUM_THREADS=1 TENAX_LIBTPU="$(CURDIR)/$(LIBTPU)"
DIGITS := tests/kernels/test_numerics.py
WORKERS ?= 2
# constraints.txt pins one tested set. `make test VENV=build/venv-2.15 TORCH=2.15.0` runs the tests on other releases;
# a new VENV is needed, because an existing one is installed again only when its inputs change.
TORCH ?=
JAX ?=
PINS := $(if $(TORCH),-e 's/^torch==.*/torch==$(TORCH)/') $(if $(JAX),-e 's/^\(jax\|jaxlib\)==.*/\1==$(JAX)/')

# Without bytecode, each process of a test would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run run-distributed test test-all affected test-quick slow generate check coverage fuzz bench docs ecosystem suites gpu compile-gpu lint format-check types pytest wheel drift clean

run: $(STAMP)
	$(BIN)/python examples/digits.py

# Eight devices of the CPU, whatever the machine has.
run-distributed: $(STAMP)
	JAX_PLATFORMS=cpu XLA_FLAGS="--xla_force_host_platform_device_count=8 $(XLA_FLAGS)" \
		$(BIN)/python examples/fsdp_llama.py

# Every part runs, even if an earlier one failed, and make names those that failed. The linters run beside the tests.
TIMED = @status=0; begun=$$(date +%s); $(1) || status=2; took=$$(($$(date +%s) - begun)); \
	echo "make $@: $$((took / 60)) min $$((took % 60)) s"; exit $$status
test: $(STAMP)
	$(call TIMED,$(MAKE) --no-print-directory -k -j4 check lint pytest)

test-all: $(STAMP)
	$(call TIMED,$(MAKE) --no-print-directory -k test slow)

# The tests nearest to what changed since BASE, for three minutes.
BASE ?= main
affected: $(STAMP) $(LIBTPU)
	$(FAST_ENV) $(BIN)/python -m tests.affected --base $(BASE)

# `make test-quick FILES="tests/dispatch/test_out_arguments.py tests/dispatch/test_foreach.py"`
FILES ?= $(error FILES names the test files to run)
test-quick: $(STAMP) $(LIBTPU)
	$(FAST_ENV) $(BIN)/python -m pytest -q -m "not slow" $(FILES)

pytest: $(STAMP) $(LIBTPU)
	@status=0; $(FAST_ENV) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" --ignore $(DIGITS) || status=1; \
		$(TEST_ENV) $(BIN)/python -m pytest -n $(WORKERS) $(DIGITS) && exit $$status

slow: $(STAMP) $(LIBTPU)
	$(FAST_ENV) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow

generate: $(STAMP)
	$(BIN)/python -m tenax.codegen

check: $(STAMP)
	$(BIN)/python -m tenax.codegen --check

coverage: $(STAMP)
	$(FAST_ENV) $(BIN)/tenax coverage run

# `make fuzz MINUTES=30 SEED=7 MODES=jit,t2j`; the samples of torch's databases have a fuzzer of their own, `tenax coverage fuzz`.
MINUTES ?= 10
SEED ?= 0
MODES ?= all
fuzz: $(STAMP)
	$(FAST_ENV) $(BIN)/tenax coverage mutate --minutes $(MINUTES) --seed $(SEED) --modes $(MODES)

# The documentation site, in an environment of its own: build/site/index.html.
docs: build/links
	test -x build/docs-venv/bin/mkdocs || ($(PYTHON) -m venv build/docs-venv && \
		build/docs-venv/bin/python -m pip install --quiet -c constraints.txt -e '.[docs]')
	NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build --strict --quiet

# Small programs of other libraries, and models of transformers and timm, on the device and on the CPU, in an
# environment of its own, about twenty minutes.
# `make ecosystem ECOSYSTEM=--write` keeps the results and writes docs/ecosystem.md.
ECOSYSTEM ?=
ecosystem: build/ecosystem-venv/.installed
	build/ecosystem-venv/bin/python -m tests.ecosystem $(ECOSYSTEM)
	build/ecosystem-venv/bin/python -m tests.ecosystem.models $(ECOSYSTEM)

# The test suites of some of these libraries, about half an hour; the tests of two are cloned from GitHub.
suites: build/ecosystem-venv/.installed
	build/ecosystem-venv/bin/python -m tests.ecosystem.suites $(ECOSYSTEM)

build/ecosystem-venv/.installed: pyproject.toml constraints.txt tests/ecosystem/constraints.txt
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet -c constraints.txt -c tests/ecosystem/constraints.txt -e '.[ecosystem]'
	touch $@

# A machine with an NVIDIA GPU, in at most nine minutes. `make gpu GPU="--torch-python PYTHON"` compares with a PyTorch
# for CUDA too.
GPU ?=
gpu: $(STAMP)
	$(BIN)/python benchmarks/gpu.py $(GPU)

# The tests that compile for GPUs, which needs none: of the packages of `jax[cuda13]`, those of the compilers (0.8 GB).
compile-gpu: $(STAMP) build/cuda/.installed
	$(FAST_ENV) PYTHONPATH=build/cuda $(BIN)/python -m pytest tests/planning/test_gpu_targets.py \
		tests/benchmarks/test_program_size.py -k "gpu or H100"

build/cuda/.installed: $(STAMP)
	rm -rf $(@D)
	$(BIN)/python -m pip install --quiet --no-deps --target $(@D) $$($(BIN)/python -c \
		'from jax import __version__ as v; print(f"jax-cuda13-plugin=={v} jax-cuda13-pjrt=={v}")') \
		nvidia-cuda-nvcc nvidia-nvvm nvidia-cudnn-cu13
	touch $@

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

lint: format-check types

format-check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP) build/links
	$(BIN)/mypy

# The wheel as a user gets it: built in isolation, installed into an empty environment, tried outside of the checkout.
wheel: $(STAMP)
	rm -rf build/lib dist build/wheel-venv
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip install --quiet -c $(STAMP).constraints dist/*.whl
	cd / && $(CURDIR)/build/wheel-venv/bin/python -P $(CURDIR)/tests/smoke.py
	cd / && $(CURDIR)/build/wheel-venv/bin/tenax doctor

# The newest releases that the package index serves, in an environment of their own, about fifteen minutes.
# `make drift DRIFT="--pre --index URL"` takes prereleases, and another index besides, such as one of nightly builds.
DRIFT ?=
drift:
	$(PYTHON) tests/drift.py $(DRIFT)

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache

# mypy needs the package as one folder; links show it the working tree.
build/links: pyproject.toml $(wildcard runtime/*)
	rm -rf $@ && mkdir -p $@/tenax
	ln -s $(CURDIR)/runtime/* $(CURDIR)/codegen $(CURDIR)/generated $(CURDIR)/ops_spec $(CURDIR)/tests/coverage $@/tenax/

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	sed -e '' $(PINS) constraints.txt > $@.constraints
	$(BIN)/python -m pip install --quiet -c $@.constraints -e '.[test]'
	touch $@

# The release that `jax[tpu]` names; where it does not exist, the tests that need it are skipped.
$(LIBTPU): $(STAMP)
	-$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/libtpu "$$($(BIN)/python -c \
		'from importlib.metadata import requires; print(*(r.partition(";")[0] for r in requires("jax") if "libtpu" in r))')"
	-touch $@
