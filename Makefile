# gainful: everything happens in .venv; nothing is installed outside of it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The first of these versions that is installed.
find_python = $(shell for version in $(1); do for each in python$$version $(HOME)/.pyenv/versions/$$version.*/bin/python; do \
  "$$each" -c "" 2>/dev/null && { echo "$$each"; exit; }; done; done)
OLDEST_PYTHON ?= $(call find_python,3.11)
NEWEST_PYTHON ?= $(call find_python,3.13 3.12 3.11)
BUILD := pyproject.toml CMakeLists.txt $(wildcard native/*)
SOURCES := $(BUILD) $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.toml' -o -name 'report.*')

# Tests of a file run in one process, so that fixtures are created once; files run in the given order.
PYTEST := pytest -n 2 --dist loadfile --no-loadscope-reorder -q
# What a developer's install needs, but gainful itself.
NEEDED = $(BIN)/python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
  extras = project['optional-dependencies']; wanted = sum(map(extras.get, ['test', 'docs', 'frames', 'plot', 'spark', 'zstd']), project['dependencies']); \
  print(*(each for each in wanted if not each.startswith('gainful')), sep='\n')"

# Compiled modules are kept: without them every command that a test starts would compile all it loads once more.
unexport PYTHONDONTWRITEBYTECODE

# For each fuzzer; there are five.
FUZZ_SECONDS ?= 120
CORES_SECONDS ?= 60

.PHONY: help demo test lint format types suite docs site outputs figures study web web-check bench sanitize fuzz fuzz-cores test-oldest test-newest test-frameworks clean

help:
	@echo "make demo         set up .venv, evaluate a five-system example, print a table, write a report"
	@echo "make test         set up .venv, run all checks and tests"
	@echo "make test-oldest  run all tests on the oldest supported Python and packages"
	@echo "make test-newest  run all tests on the newest Python and packages"
	@echo "make test-frameworks  read documents of LangChain, LlamaIndex and Haystack, in a separate .venv"
	@echo "make docs         write the measure pages from the catalogue"
	@echo "make site         build the site of the documentation into build/site"
	@echo "make outputs      rewrite the console output quoted in the documentation"
	@echo "make figures      draw the figures of the documentation's gallery"
	@echo "make study        study tests and intervals on real scores, and write the tables of the documentation"
	@echo "make web          build the report page and the playground from web/; needs node"
	@echo "make web-check    fail if the committed bundle differs from a new build"
	@echo "make bench        measure speed and memory, compared with other tools"
	@echo "make sanitize     run the core's tests under address and undefined-behaviour sanitizers"
	@echo "make fuzz         search for inputs that break the core's readers, for ten minutes; needs clang"
	@echo "make fuzz-cores   compare the answers of both cores on random inputs, for a minute"
	@echo "make clean        remove all build products"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A user's install: without a compiler it uses the pure-Python core, with a message. pip shows progress.
$(VENV)/.installed: $(BIN)/python $(SOURCES)
	@echo "Installing gainful into $(VENV): up to a minute, most of it for the compiler."
	$(filter-out --quiet,$(PIP)) install .
	@$(BIN)/gainful --version
	@$(BIN)/gainful --version | grep -q 'C++' || echo "The C++ core was not built. Install g++ and Python's headers (python3-dev), then run: make clean demo"
	@touch $@

# A developer's install: the compiled core must build, and the tools and peers are there. Python files are used where they
# are, so that a change of one builds nothing. Packages are unpacked while the compiler works, and Spark, as large as all
# others together, after it. Most modules of packages nobody imports, so that Python compiles those that are needed when
# they are; ours are compiled here, on all cores, and not by every process of the tests.
$(VENV)/.testable: $(BIN)/python $(BUILD)
	@command -v $${CXX:-g++} >/dev/null || { echo "make test needs a C++ compiler: install g++ (make demo works without)"; exit 1; }
	@$(BIN)/python -c "import os, sysconfig; raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))" \
	  || { echo "make test needs Python's headers: install python3-dev (make demo works without)"; exit 1; }
	@$(NEEDED) >$(VENV)/needed.txt
	@{ GAINFUL_REQUIRE_CORE=1 $(PIP) install --no-compile --no-deps -e . && \
	  $(PIP) install --no-compile $$(grep '^pyspark' $(VENV)/needed.txt); } & core=$$!; \
	  grep -v '^pyspark' $(VENV)/needed.txt >$(VENV)/others.txt && \
	  $(PIP) install --no-compile -r $(VENV)/others.txt && wait $$core
	@$(BIN)/python -m compileall -q -j 2 src
	@$(BIN)/gainful --version
	@touch $@

# A developer's install takes precedence.
demo: $(or $(wildcard $(VENV)/.testable),$(VENV)/.installed)
	$(BIN)/gainful demo

lint: format types

format: $(VENV)/.testable
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.testable
	$(BIN)/mypy

suite: $(VENV)/.testable
	GAINFUL_REQUIRE_CORE=1 $(BIN)/$(PYTEST)

test: format
	@$(MAKE) --no-print-directory -j 2 types suite

docs: $(VENV)/.testable
	$(BIN)/python docs/make_pages.py

$(VENV)/.documented: $(BIN)/python $(SOURCES)
	$(PIP) install ".[docs]"
	@touch $@

# Nothing is fetched: not when the site is built, nor when its pages are opened.
site: $(or $(wildcard $(VENV)/.testable),$(VENV)/.documented)
	$(BIN)/python docs/make_site.py

# What commands print in the pages, written anew: look at the difference before committing it.
outputs: $(VENV)/.testable
	GAINFUL_REWRITE_DOCS=1 $(BIN)/$(PYTEST) tests/docs/test_documentation.py -k commands_print

figures: $(VENV)/.testable
	$(BIN)/python docs/make_figures.py

study: $(VENV)/.testable
	$(BIN)/python studies/run.py

# The tools that build the page's script, in the versions of the lock file.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "make web needs node and npm (users do not: the bundle is committed)"; exit 1; }
	cd web && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

# What the playground says of other tools comes from Python.
web: web/node_modules/.package-lock.json $(VENV)/.testable
	$(BIN)/python web/tools_data.py web/src/playground/tools.json
	cd web && npx tsc && node build.mjs

web-check: web/node_modules/.package-lock.json
	cd web && npx tsc && node build.mjs ../build/web ../build/web
	cmp build/web/report.js src/gainful/tasks/report/report.js
	cmp build/web/report.css src/gainful/tasks/report/report.css
	cmp build/web/index.html docs/playground/index.html

bench: $(VENV)/.testable
	@rm -f $(VENV)/.testable # measure a user's install, not a developer's
	GAINFUL_REQUIRE_CORE=1 $(PIP) install ".[bench]"
	$(BIN)/python benchmarks/run.py

sanitize: $(VENV)/.testable
	$(PIP) install nanobind cmake ninja
	bash tests/native/sanitize.sh $(BIN)

fuzz:
	bash fuzz/run.sh $(FUZZ_SECONDS)

fuzz-cores: $(VENV)/.testable
	$(BIN)/python fuzz/cores.py --seconds $(CORES_SECONDS) $(if $(SEED),--seed $(SEED))

# All tests in a separate environment. Usage: $(call test_on,folder,Python,its variable,settings of pip)
define test_on
	@test -n "$(2)" || { echo "$@: this Python was not found; name one with $(3)=/path/to/python"; exit 1; }
	$(2) -m venv $(1)
	$(4) GAINFUL_REQUIRE_CORE=1 $(1)/bin/python -m pip --disable-pip-version-check --quiet install \
	  --upgrade --upgrade-strategy eager --config-settings=build-dir=build/$(1) -e ".[test,datasets]"
	@$(1)/bin/python --version; $(1)/bin/gainful --version
	GAINFUL_REQUIRE_CORE=1 $(1)/bin/$(PYTEST)
endef

# Build tools are also held to their oldest versions; the option's name depends on the version of pip.
test-oldest:
	$(call test_on,.venv-oldest,$(OLDEST_PYTHON),OLDEST_PYTHON,PIP_CONSTRAINT=$(CURDIR)/constraints-oldest.txt PIP_BUILD_CONSTRAINT=$(CURDIR)/constraints-oldest.txt)

# The documents of LangChain, LlamaIndex and Haystack as they come from PyPI, in an environment of their own.
test-frameworks: .venv-frameworks/.installed
	GAINFUL_REQUIRE_FRAMEWORKS=1 .venv-frameworks/bin/python -m pytest -q -p no:cacheprovider tests/install/test_frameworks.py

.venv-frameworks/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-frameworks
	.venv-frameworks/bin/python -m pip --disable-pip-version-check --quiet install --no-compile \
	  numpy scipy click rich pytest hypothesis langchain-core llama-index-core haystack-ai
	GAINFUL_REQUIRE_CORE=0 .venv-frameworks/bin/python -m pip --disable-pip-version-check --quiet install --no-compile \
	  --no-deps --config-settings=build-dir=build/frameworks -e .
	@touch $@

test-newest:
	$(call test_on,.venv-newest,$(NEWEST_PYTHON),NEWEST_PYTHON)

clean:
	rm -rf web/node_modules $(VENV) .venv-oldest .venv-newest .venv-frameworks build dist gainful-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
