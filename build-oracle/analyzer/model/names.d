build-oracle/analyzer/model/names.o: analyzer/model/names.c \
 analyzer/model/names.h analyzer/model/profile.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/wrapper.h \
 analyzer/model/trace_names.h analyzer/symbolize/perf_map.h \
 analyzer/symbolize/symbolizer.h analyzer/util/memory.h \
 analyzer/util/strings.h
analyzer/model/names.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/wrapper.h:
analyzer/model/trace_names.h:
analyzer/symbolize/perf_map.h:
analyzer/symbolize/symbolizer.h:
analyzer/util/memory.h:
analyzer/util/strings.h:
