# A part of every kind of test, in groups, two at a time: `make test` does this with -j2. While one processor translates the VM,
# the other makes the rest, and tests what doesn't need the VM: with the engine alone, which is what somebody
# has who has not translated it. Of CPython's tests the newest's run on the VM. Those of the inliner, most of
# the time, run with PyPy on the VM, and with the newest CPython on the engine alone; with the others in
# `make test-all`. The older CPythons' have the semantics of their own version, the inliner's on the engine those of 3.9,
# as PyPy 3.9 gives a program; all others those of 3.13.
#
# Groups begin in the order in which they stand in `all`. A group prints its output in one piece at its end;
# one that fails doesn't stop the others. What each took is printed behind the last.

PYTHON := build/pypy-env/bin/python
TIMES := build/test-times.txt
$(shell mkdir -p build && rm -f $(TIMES))
# Do a command, and note how long it took.
TIMED = began=$$(date +%s); $(1); ended=$$?; echo "$$(($$(date +%s) - began)) s $@" >> $(TIMES); \
  test $$ended = 0 || { echo "sqpyte: FAILED: $@"; exit 1; }
PYTEST = $(call TIMED,$(1) -m pytest -q $(2))

CPYTHONS := $(notdir $(wildcard build/cpython-env-3.*))
NEWEST := $(lastword $(shell printf '%s\n' $(CPYTHONS) | sort -V))
OLDER := $(filter-out $(NEWEST),$(CPYTHONS))
INLINER := $(addsuffix -inliner,$(NEWEST))
WITHOUT_VM := c_engine sqpyte effects tools types
# The Python module's under PyPy. They collect garbage a thousand times, and a collection takes four times as long behind
# three thousand tests as in a process of a few hundred.
MODULE := module-0 module-1 module-2 module-folders module-dbapi
# The longest first. `upstream`, which runs two processes by itself, is last.
WITH_VM := differential $(MODULE) jit_pypy jit fuzz benchmarks faults file_map corruption c_api sqllogictest translated examples wheel

ifeq ($(CPYTHONS),)
$(warning sqpyte: no CPython 3.9 to 3.13 here: its tests are not run)
endif

# What `make check` runs, within two minutes: a part of each kind that needs no translation.
CHECKS := lint check-dbapi check-units check-differential check-inliner check-traces

.PHONY: all check $(CHECKS) vm data site checking $(CPYTHONS) $(INLINER) $(WITHOUT_VM) $(WITH_VM) upstream

all: vm lint site $(INLINER) $(OLDER) $(WITHOUT_VM) $(filter $(NEWEST),$(CPYTHONS)) $(WITH_VM) upstream
	@echo "sqpyte: what each group took, two at a time:" >&2
	@sort -rn $(TIMES) >&2

check: $(CHECKS)

$(filter-out lint,$(CHECKS)) $(OLDER) $(INLINER): export SQPYTE_LIBRARY := $(CURDIR)/build/libsqpyte-engine.so
$(OLDER): export SQPYTE_SEMANTICS = $(@:cpython-env-%=%)
$(INLINER): export SQPYTE_SEMANTICS := 3.9
check-differential: export SQPYTE_EXAMPLES := 0.1
check-differential: export SQPYTE_DIFFERENTIAL := engine,untranslated-always,module-inline

check-units:
	@$(call PYTEST,$(PYTHON),tests/sqpyte tests/c_engine/test_build.py tests/c_engine/test_generated.py \
	  tests/c_engine/test_locals.py tests/c_engine/test_seeks.py tests/c_engine/test_sort_keys.py)

check-dbapi:
	@$(call PYTEST,$(PYTHON),tests/pypy_module/dbapi tests/pypy_module/test_contracts.py)

check-inliner:
	@$(call PYTEST,$(PYTHON),$(addprefix tests/pypy_module/inline/,test_analysis.py test_datums.py \
	  test_loops.py generated))

check-differential:
	@$(call PYTEST,$(PYTHON),tests/differential/test_queries.py tests/differential/test_joins.py tests/differential/test_module.py)

check-traces:
	@$(call PYTEST,$(PYTHON),tests/jit_pypy/test_traces.py)

vm data lint:
	@$(call TIMED,$(MAKE) --no-print-directory -f Makefile $@)

site:
	@echo "sqpyte: tests/site" >&2
	@$(call TIMED,$(MAKE) --no-print-directory -f Makefile test-site)

checking:
	@$(MAKE) --no-print-directory -f Makefile effects

$(OLDER): %:
	@echo "sqpyte: the DB-API tests under $$(build/$@/bin/python --version), engine alone" >&2
	@$(call PYTEST,build/$@/bin/python,tests/pypy_module --ignore=tests/pypy_module/inline)

$(INLINER):
	@echo "sqpyte: the inliner's tests under $$(build/$(NEWEST)/bin/python --version), engine alone" >&2
	@$(call PYTEST,build/$(NEWEST)/bin/python,tests/pypy_module/inline)

$(filter $(NEWEST),$(CPYTHONS)): vm
	@echo "sqpyte: the DB-API tests under $$(build/$@/bin/python --version)" >&2
	@$(call PYTEST,build/$@/bin/python,tests/pypy_module --ignore=tests/pypy_module/inline)

effects: checking

# The longest; `make test-all` has many times as many examples.
differential: export SQPYTE_EXAMPLES := 0.25

$(WITHOUT_VM): data
	@echo "sqpyte: tests/$@" >&2
	@$(call PYTEST,$(PYTHON),tests/$@)

INLINE := tests/pypy_module/inline
module-folders: TESTS = $(filter-out %/__pycache__/,$(wildcard $(INLINE)/*/))
module-dbapi: TESTS = tests/pypy_module --ignore=$(INLINE)
module-%: TESTS = $(shell ls $(INLINE)/test_*.py | awk 'NR % 3 == $(@:module-%=%)')

$(MODULE): vm data
	@echo "sqpyte: $@" >&2
	@$(call PYTEST,$(PYTHON),$(TESTS))

$(filter-out $(MODULE),$(WITH_VM)) upstream: vm data
	@echo "sqpyte: tests/$@" >&2
	@$(call PYTEST,$(PYTHON),tests/$@)
