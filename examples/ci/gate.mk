# The gate in a Makefile: `make gate` runs the tests under memprof and fails when
# they leave more memory behind than gate.json allows; `make gate-baseline` writes
# down what they leave behind now.
#
#	TEST_COMMAND = ./unit-tests
#	include gate.mk

TEST_COMMAND ?= $(MAKE) test
GATE_BASELINE ?= gate.json
GATE_TRACES ?= gate.traces
GATE_LIMITS ?=

$(GATE_TRACES): FORCE
	rm -rf $@
	memprof run -o $@ -- $(TEST_COMMAND)

gate: $(GATE_TRACES)
	memprof-gate $(if $(wildcard $(GATE_BASELINE)),--baseline $(GATE_BASELINE)) \
		$(GATE_LIMITS) --report text --report junit=gate.xml $<

gate-baseline: $(GATE_TRACES)
	memprof-gate --baseline $(GATE_BASELINE) --update-baseline $<

FORCE:
.PHONY: FORCE gate gate-baseline
