# A part of every kind of test, in groups, two at a time: `make test` does this with -j2. While one processor translates the VM,
# the other makes the rest, and tests what doesn't need the VM: with the engine alone, which is what somebody
# has who has not translated it. Of CPython's tests the newest's run on the VM. Those of the inliner, most of
# the time, run with PyPy on the VM, and with the newest CPython on the engine alone; with the others in
# `make test-all`. The older CPythons' have the semantics of their own version, the inliner's on the engine those of 3.9,
# as PyPy 3.9 gives a program; all others those of 3.13.
#
# Groups begin in the order in which they stand in `all`. A group prints its output in one piece at its end;
# one that fails doesn't stop the others.

PYTHON := build/pypy-env/bin/python
PYTEST = $(1) -m pytest -q $(2) || { echo "sqpyte: FAILED: $@"; exit 1; }

CPYTHONS := $(notdir $(wildcard build/cpython-env-3.*))
NEWEST := $(lastword $(shell printf '%s\n' $(CPYTHONS) | sort -V))
INLINER := $(addsuffix -inliner,$(NEWEST))
WITHOUT_VM := c_engine sqpyte effects tools types
# The longest first. `upstream`, which runs two processes by itself, is last.
WITH_VM := pypy_module differential jit_pypy jit fuzz benchmarks faults file_map corruption c_api sqllogictest translated examples wheel

ifeq ($(CPYTHONS),)
$(warning sqpyte: no CPython 3.9 to 3.13 here: its tests are not run)
endif

# What `make check` runs, within two minutes: a part of each kind that needs no translation.
CHECKS := lint check-dbapi check-units check-differential check-inliner check-traces

.PHONY: all check $(CHECKS) vm data site checking $(CPYTHONS) $(INLINER) $(WITHOUT_VM) $(WITH_VM) upstream

all: vm lint site $(INLINER) $(filter-out $(NEWEST),$(CPYTHONS)) $(WITHOUT_VM) $(filter $(NEWEST),$(CPYTHONS)) $(WITH_VM) upstream

check: $(CHECKS)

ENGINE_ALONE := SQPYTE_LIBRARY=$(CURDIR)/build/libsqpyte-engine.so

check-units:
	@$(ENGINE_ALONE) $(call PYTEST,$(PYTHON),tests/sqpyte tests/c_engine/test_build.py tests/c_engine/test_generated.py \
	  tests/c_engine/test_locals.py tests/c_engine/test_seeks.py tests/c_engine/test_sort_keys.py)

check-dbapi:
	@$(ENGINE_ALONE) $(call PYTEST,$(PYTHON),tests/pypy_module/dbapi tests/pypy_module/test_contracts.py)

check-inliner:
	@$(ENGINE_ALONE) $(call PYTEST,$(PYTHON),$(addprefix tests/pypy_module/inline/,test_analysis.py test_datums.py \
	  test_loops.py generated))

check-differential:
	@$(ENGINE_ALONE) SQPYTE_EXAMPLES=0.1 SQPYTE_DIFFERENTIAL=engine,untranslated-always,module-inline \
	  $(call PYTEST,$(PYTHON),tests/differential/test_queries.py tests/differential/test_joins.py tests/differential/test_module.py)

check-traces:
	@$(ENGINE_ALONE) $(call PYTEST,$(PYTHON),tests/jit_pypy/test_traces.py)

vm data lint:
	@$(MAKE) --no-print-directory -f Makefile $@

site:
	@echo "sqpyte: tests/site" >&2
	@$(MAKE) --no-print-directory -f Makefile test-site || { echo "sqpyte: FAILED: $@"; exit 1; }

checking:
	@$(MAKE) --no-print-directory -f Makefile effects

$(filter-out $(NEWEST),$(CPYTHONS)): %:
	@echo "sqpyte: the DB-API tests under $$(build/$@/bin/python --version), engine alone" >&2
	@SQPYTE_SEMANTICS=$(@:cpython-env-%=%) $(ENGINE_ALONE) $(call PYTEST,build/$@/bin/python,\
	  tests/pypy_module --ignore=tests/pypy_module/inline)

$(INLINER):
	@echo "sqpyte: the inliner's tests under $$(build/$(NEWEST)/bin/python --version), engine alone" >&2
	@SQPYTE_SEMANTICS=3.9 $(ENGINE_ALONE) $(call PYTEST,build/$(NEWEST)/bin/python,tests/pypy_module/inline)

$(filter $(NEWEST),$(CPYTHONS)): vm
	@echo "sqpyte: the DB-API tests under $$(build/$@/bin/python --version)" >&2
	@$(call PYTEST,build/$@/bin/python,tests/pypy_module --ignore=tests/pypy_module/inline)

effects: checking

# Two minutes of two processors; `make test-all` has many times as many examples.
differential: export SQPYTE_EXAMPLES := 0.4

$(WITHOUT_VM): data
	@echo "sqpyte: tests/$@" >&2
	@$(call PYTEST,$(PYTHON),tests/$@)

$(WITH_VM) upstream: vm data
	@echo "sqpyte: tests/$@" >&2
	@$(call PYTEST,$(PYTHON),tests/$@)
