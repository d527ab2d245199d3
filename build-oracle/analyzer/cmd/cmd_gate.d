build-oracle/analyzer/cmd/cmd_gate.o: analyzer/cmd/cmd_gate.c \
 analyzer/cmd/command.h analyzer/util/error.h analyzer/model/gate.h \
 analyzer/model/baseline.h analyzer/model/number.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/util/option.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/suppressions.h \
 analyzer/model/leak_suppressions.h analyzer/util/output.h \
 analyzer/view/baseline_file.h analyzer/view/gate_report.h
analyzer/cmd/command.h:
analyzer/util/error.h:
analyzer/model/gate.h:
analyzer/model/baseline.h:
analyzer/model/number.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/suppressions.h:
analyzer/model/leak_suppressions.h:
analyzer/util/output.h:
analyzer/view/baseline_file.h:
analyzer/view/gate_report.h:
