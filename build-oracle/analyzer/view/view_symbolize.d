build-oracle/analyzer/view/view_symbolize.o: analyzer/view/view_symbolize.c \
 include/memprof/varint.h analyzer/model/trace_names.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/symbolize/perf_map.h \
 analyzer/symbolize/symbolizer.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/trace/fold.h \
 analyzer/util/memory.h analyzer/util/output.h analyzer/view/view.h \
 analyzer/model/profile.h analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h
include/memprof/varint.h:
analyzer/model/trace_names.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/symbolize/perf_map.h:
analyzer/symbolize/symbolizer.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/trace/fold.h:
analyzer/util/memory.h:
analyzer/util/output.h:
analyzer/view/view.h:
analyzer/model/profile.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
