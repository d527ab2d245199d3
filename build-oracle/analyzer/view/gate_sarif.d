build-oracle/analyzer/view/gate_sarif.o: analyzer/view/gate_sarif.c \
 analyzer/view/gate_report.h analyzer/model/gate.h \
 analyzer/model/baseline.h analyzer/model/number.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/suppressions.h \
 analyzer/view/json.h
analyzer/view/gate_report.h:
analyzer/model/gate.h:
analyzer/model/baseline.h:
analyzer/model/number.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/suppressions.h:
analyzer/view/json.h:
