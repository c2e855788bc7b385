# make demo | make test: each makes .venv, installs paring with its compiled core, and runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN_PY := $(BIN)/python

CPP_FILES = $(wildcard bindings/*.[ch]pp core/src/*.[ch]pp core/tests/*.[ch]pp core/include/paring/*.hpp core/include/paring/*/*.hpp)
# One build at a time in a folder, however many shells ask for it.
LOCKED := $(shell command -v flock >/dev/null && echo flock pyproject.toml)
# TSan needs a fixed memory map on new kernels ('unexpected memory mapping').
FIXED_MAP := $(shell setarch -R true 2>/dev/null && echo setarch -R)

.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: demo test test-long lint format stub check-stub core-test sanitize bench bench-penalised papers dev rebuild check-os check-system clean

demo: rebuild
	$(BIN)/paring demo

test: $(VENV)/.dev rebuild
	$(BIN)/pytest -m "not long"

test-long: $(VENV)/.dev rebuild
	$(BIN)/pytest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

# -- the compiled core ---------------------------------------------------------------------------------------

# Edit C++, `make rebuild`, run: the module is compiled in build/python and moved, at once, to where Python loads it.
EXTENSION := build/python
SITE       = $$($(RUN_PY) -c "import sysconfig; print(sysconfig.get_path('platlib'))")
rebuild: | $(VENV)/.install
	@$(LOCKED) sh -ec '$(BIN)/cmake --build $(EXTENSION); \
	  $(BIN)/cmake --install $(EXTENSION) --prefix $(EXTENSION)/stage >/dev/null; \
	  mv -f $(EXTENSION)/stage/paring/_core.* '$(SITE)'/paring/'

STUBGEN = $(RUN_PY) -m nanobind.stubgen -q -m paring._core -o
stub: rebuild
	$(STUBGEN) src/paring/_core.pyi

check-stub: rebuild
	@$(STUBGEN) build/_core.pyi
	diff -u src/paring/_core.pyi build/_core.pyi || { echo "run: make stub"; exit 1; }

check-os: | $(VENV)/.install
	@! grep -n -e ' -Os' $(EXTENSION)/compile_commands.json

core-test: $(VENV)/.tools
	$(BIN)/cmake -G Ninja -S . -B build/core -DPARING_CORE_TESTS=ON -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
	$(LOCKED) $(BIN)/cmake --build build/core
	$(BIN)/ctest --test-dir build/core --output-on-failure --no-tests=error -j 2

sanitize: sanitize-address,undefined sanitize-thread
sanitize-%: $(VENV)/.tools
	$(BIN)/cmake -G Ninja -S . -B build/$* -DPARING_CORE_TESTS=ON -DPARING_SANITIZE=$* -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
	$(LOCKED) $(BIN)/cmake --build build/$*
	$(FIXED_MAP) $(BIN)/ctest --test-dir build/$* --output-on-failure --no-tests=error -j 2

# -- environments ----------------------------------------------------------------------------------------------

check-system:
	@command -v git >/dev/null && command -v make >/dev/null && command -v $(CXX) >/dev/null \
	&& $(PYTHON) -c "import ensurepip, sysconfig, venv; open(sysconfig.get_path('include') + '/Python.h')" 2>/dev/null \
	|| { echo "apt install git make g++ python3-dev python3-venv"; exit 1; }
	@$(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('paring needs Python 3.11 or newer: make PYTHON=...')"

$(VENV)/.tools: pyproject.toml | check-system
	$(PYTHON) -m venv $(VENV)
	$(RUN_PY) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" > $@
	$(BIN)/pip install -q --disable-pip-version-check -r $@

INSTALL = $(BIN)/pip install -q --disable-pip-version-check --no-build-isolation --config-settings=build-dir=$(EXTENSION) -e
$(VENV)/.install: $(VENV)/.tools
	$(INSTALL) ".[cli,plot]"
	touch $@
$(VENV)/.dev: $(VENV)/.install
	$(INSTALL) ".[dev]"
	touch $@

dev: $(VENV)/.dev

# Rivals live apart from us and, where their pins disagree, from each other: an environment per requirements file.
RIVALS := $(patsubst benchmarks/requirements-%.txt,.venv-bench/%/.done,$(wildcard benchmarks/requirements-*.txt))
.venv-bench/%/.done: benchmarks/requirements-%.txt | check-system
	$(PYTHON) -m venv .venv-bench/$*
	.venv-bench/$*/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

bench: $(VENV)/.dev rebuild .venv-bench/rivals/.done
	$(RUN_PY) benchmarks/run.py $(ARGS)

bench-penalised: $(VENV)/.dev rebuild $(RIVALS)
	$(RUN_PY) benchmarks/run.py --config benchmarks/penalised.yaml --name penalised $(ARGS)

papers: $(VENV)/.dev rebuild
	$(RUN_PY) -m benchmarks.papers $(ARGS)

clean:
	rm -rf build dist $(VENV)
