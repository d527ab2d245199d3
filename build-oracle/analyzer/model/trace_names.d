build-oracle/analyzer/model/trace_names.o: analyzer/model/trace_names.c \
 analyzer/model/trace_names.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/symbolize/perf_map.h analyzer/symbolize/symbolizer.h \
 analyzer/trace/trace.h include/memprof/trace_format.h \
 analyzer/util/memory.h
analyzer/model/trace_names.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/symbolize/perf_map.h:
analyzer/symbolize/symbolizer.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
