# `make` for the paper's example, `make test` for tests of every kind, `make help` for the rest.

PYPY ?= pypy3
ifeq ($(origin CC),default)
CC := gcc
endif
PYTHON := build/pypy-env/bin/python
SCALE ?= 0.05
SECONDS ?= 600
export CC

# Ours, and what `make lint` reads.
ROOMS := c_engine sqpyte pypy_module benchmarks examples tests tools

.DEFAULT_GOAL := all
.PHONY: all help check deps deps-test deps-upstream deps-languages engine upgrade pypy-env test-env data figure3 python27 vm \
        test test-all test-groups test-pypy test-cpython test-ecosystem test-upstream test-effects test-effects-scripts test-sanitized \
        test-languages effects fuzz lint docs site test-site wheel \
        bench bench-ablations profile clean distclean
.NOTPARALLEL:

all: figure3  ## the main job: install and build what is missing, then run the paper's Figure 3

help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*  ## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) \
	  | awk -F'|' '{printf "%-23s %s\n", $$1, $$2}'
	@echo "  make vm-no-NAME       TPC-H with a mechanism of the engine or the VM switched off: docs/environment.md has the names"
	@echo "Variables: SQPYTE_SQLITE=DIR (your own copy of the pinned sqlite3.c; of the one to try, for upgrade),"
	@echo "           SQPYTE_CACHE=DIR, SQLITE=x.y.z (for upgrade),"
	@echo "           PYPY=PATH (in place of pypy3), PYTHON27=PATH (for make vm), CC, SCALE=$(SCALE) (size of the TPC-H data)"

deps:  ## install missing Debian packages (PyPy 3, a C compiler), or say what to type
	@tools/install.sh run

deps-test: deps
	@tools/install.sh test

# Exit code 3: no source had SQLite and there is no npm to ask. npm is large, so it comes last.
engine: deps  ## obtain, check, edit and build SQLite: stock and engine libraries, struct layouts
	@$(PYPY) -m c_engine.build all || { test $$? = 3 && tools/install.sh npm \
	  && $(PYPY) -m c_engine.build all; }

# The pinned version, to compare with, never comes from the copy that the user gives of the other.
upgrade: deps  ## try another version of SQLite (SQLITE=x.y.z) and print what doesn't fit; the build stays as it is
	@env -u SQPYTE_SQLITE $(PYPY) -m c_engine.build layout
	@$(PYPY) -m tools.upgrade "$(SQLITE)"

pypy-env: deps  ## make build/pypy-env, the PyPy 3 environment everything runs in
	@$(PYPY) -m tools.environments pypy

# Compiled modules, for those who have Python write none at import: without them it takes 30 ms more.
data: pypy-env engine  ## generate the TPC-H database (SCALE=0.05), cached
	@$(PYTHON) -m compileall -q pypy_module sqpyte c_engine
	@$(PYTHON) -m benchmarks data --scale $(SCALE)

figure3: data  ## run the paper's Figure 3 program with sqpyte and, beside it, with sqlite3
	@$(PYTHON) -m benchmarks figure3 --scale $(SCALE)

check: test-env engine data  ## lint, types, and a part of each kind of test that needs no translation (2 minutes)
	@$(MAKE) --no-print-directory -f tests/groups.mk -k -j2 --output-sync=target check

# First of all, so that a missing Python 2.7 is told before anything is compiled.
python27: deps-test
	@$(PYPY) -m tools.environments rpython

# An engine made again of the same bytes is newer than the library that it is in, which pypy_module would pass over.
vm: python27 engine  ## translate the RPython VM to build/libsqpyte.so (needs Python 2.7; 5 to 10 minutes; seconds after a change of C alone)
	@$(PYPY) -m tools.translate
	@touch build/libsqpyte.so
	@$(CC) -O2 -Wall -I build/sqlite c_engine/core/command.c -o build/sqpyte -L build -lsqpyte \
	  '-Wl,-rpath,$$ORIGIN'
	@echo "sqpyte: build/libsqpyte.so and build/sqpyte are ready" >&2

test-env: deps-test  ## make the test environments: build/pypy-env, build/cpython-env-3.x
	@$(PYPY) -m tools.environments pypy --test
	@$(PYPY) -m tools.environments cpython

docs: pypy-env engine  ## write the generated pages of docs/
	@$(PYTHON) -m tools.opcode_page
	@$(PYTHON) -m tools.mechanism_table
	@$(PYTHON) -m tools.version_page
	@$(PYTHON) -m tools.opcode_sets

# One build at a time: what is in build/site/ is of the last one.
site: deps-test  ## make the documentation site, build/site/index.html
	@$(PYPY) -m tools.environments site
	@NO_MKDOCS_2_WARNING=1 build/site-env/bin/python -m mkdocs build --strict -f tools/site/mkdocs.yml
	@echo "sqpyte: build/site/index.html is ready; its search needs a server: python3 -m http.server -d build/site" >&2

test-site: site engine  ## make the site and look at it in a headless Chromium, narrow and wide (3 minutes)
	@tools/install.sh browser || echo "sqpyte: no Chromium can be had: the site's tests in a browser are skipped" >&2
	@$(PYPY) -m tools.environments site --test
	@build/site-env/bin/python -m pytest tests/site

lint: test-env engine  ## check style and types
	@build/pypy-env/bin/ruff check $(wildcard $(ROOMS))
	@build/pypy-env/bin/mypy

test: python27 test-groups  ## run a part of every kind of test: style, types, the translated VM, PyPy and all CPythons

# Goes on where it was stopped. PARTS='sqllogictest* faults*': only these of its parts.
test-all: python27 deps-upstream deps-languages test-env vm data effects  ## run all of every test, SQLite's own and sanitizers, with counts (a day)
	@$(PYTHON) -m tests.everything --seconds $(SECONDS) $(PARTS)

# Failures are kept under build/fuzz/failures. FUZZ='--seed 7 --only scripts': more of the command line.
fuzz: test-env vm  ## run generated work in many ways beside stock SQLite (SECONDS=600)
	@$(PYTHON) -m tests.fuzz --seconds $(SECONDS) $(FUZZ)

# Projects that have passed aren't run again. PROJECTS='dataset pony': only these. HOST=pypy-3.9: only there.
test-ecosystem: wheel  ## run the test suites of projects that use sqlite3 on the wheel, beside stock (an hour or two)
	@$(PYTHON) -m tests.ecosystem $(PROJECTS) $(addprefix --host ,$(HOST))

# Both go on where they were stopped. FILES='select1 fts5*': only these of the suite.
test-upstream: deps-upstream vm test-env  ## run SQLite's own test suite and fuzzer inputs beside stock (hours)
	@$(PYTHON) -m tests.upstream run $(FILES)
	@$(PYTHON) -m tests.upstream fuzz

test-sanitized: deps-upstream engine test-env  ## run the C code under AddressSanitizer and UBSan (hours)
	@$(PYTHON) -m tests.upstream.sanitized_run

deps-upstream: deps-test
	@tools/install.sh upstream

# LANGUAGES='-k "go or rust"': only these of its parts. One whose tool is missing says so.
test-languages: deps-languages vm test-env  ## run clients in Go, Rust, Perl and PHP, Litestream and a dqlite cluster on the library (15 minutes)
	@SQPYTE_TESTS=all $(PYTHON) -m pytest tests/languages $(LANGUAGES)

deps-languages: deps-test
	-@tools/install.sh languages

effects: engine pypy-env  ## build the checking build of the C tier, which compares opcodes with their declarations
	@$(PYTHON) -m tools.effects

# SQLite's suite goes on where it was stopped; FILES='fts5* select1' names files of it.
# What a dead register was left with shows in marks of values and where lengths are limited: the poison there, too.
test-effects: test-effects-scripts  ## run all there is through the checking build (hours)
	@$(PYTHON) -m tests.upstream run --config effects $(FILES)
	@$(PYTHON) -m tools.effects counts

test-effects-scripts: effects deps-upstream test-env
	@rm -f build/effects/counts-sqllogictest build/effects/counts-differential
	@$(PYTHON) -m pytest tests/effects/test_checker.py
	@SQPYTE_EFFECTS_COUNTS=$(CURDIR)/build/effects/counts-differential SQPYTE_DIFFERENTIAL=effects,effects-vm \
	  $(PYTHON) -m pytest tests/differential -k 'not module and not poison and not functions_see and not limited'
	@SQPYTE_TESTS=all SQPYTE_EFFECTS_COUNTS=$(CURDIR)/build/effects/counts-sqllogictest \
	  $(PYTHON) -m pytest tests/effects/test_sqllogictest.py

# What all groups share is made first.
test-groups: python27 deps-upstream test-env engine
	@$(MAKE) --no-print-directory -f tests/groups.mk -k -j2 --output-sync=target

test-pypy: deps-upstream test-env data effects  ## run the tests that PyPy runs; those that need the VM only if it is there
	@$(PYTHON) -m pytest tests

test-cpython: test-env data  ## run the tests of the Python module under every CPython
	@for python in build/cpython-env-3.*/bin/python; do \
	  test -x $$python || { echo "sqpyte: no CPython 3.9 to 3.13 here: its tests are not run" >&2; break; }; \
	  echo "sqpyte: the DB-API tests under $$($$python --version)" >&2; \
	  $$python -m pytest tests/pypy_module || exit 1; \
	done

wheel: vm pypy-env  ## make dist/sqpyte-….whl, for every Linux with glibc 2.28 or newer, and an sdist
	@$(PYTHON) -m tools.wheel

bench: data vm  ## run the micro-benchmarks, TPC-H and SSB (SCALE=0.2 for the published figures)
	@$(PYTHON) -m benchmarks micro --scale $(SCALE)
	@$(PYTHON) -m benchmarks tpch --scale $(SCALE)
	@$(PYTHON) -m benchmarks ssb --scale $(SCALE)

# What it buys: `make vm-no-record-decoding` runs TPC-H (SUITE=ssb: SSB) with it switched off, beside
# the VM. docs/environment.md lists what can be; `vm-no-jit` is the VM as an interpreter.
SUITE ?= tpch
vm-no-%: data vm
	@$(PYTHON) -m benchmarks $(SUITE) --scale $(SCALE) --engines stock,vm,$@

profile: data vm  ## where the time goes: shares of traces, B-trees, page reading (SCALE=0.2, SUITE=ssb)
	@$(PYTHON) -m benchmarks profile $(SUITE) --scale $(SCALE)

bench-ablations: data  ## the micro-benchmarks without inlining
	@$(PYTHON) -m benchmarks micro --scale $(SCALE) --engines sqpyte-pypy,sqpyte-pypy-no-inline

clean:  ## remove the libraries and environments (keeps TPC-H data and translated VMs)
	rm -rf build/engine build/sqlite build/stock build/wheel build/*.so build/*.inputs build/sqpyte dist \
	  build/*-env build/*-env-3.* c_engine/generated

distclean: clean  ## remove everything that was built
	rm -rf build
