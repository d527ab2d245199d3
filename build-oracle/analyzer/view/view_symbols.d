build-oracle/analyzer/view/view_symbols.o: analyzer/view/view_symbols.c \
 analyzer/view/view_symbols.h analyzer/view/json.h \
 analyzer/model/number.h analyzer/view/view.h analyzer/model/profile.h \
 analyzer/model/query.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/trace_names.h \
 analyzer/symbolize/perf_map.h analyzer/symbolize/symbolizer.h \
 analyzer/util/memory.h analyzer/view/table.h
analyzer/view/view_symbols.h:
analyzer/view/json.h:
analyzer/model/number.h:
analyzer/view/view.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/trace_names.h:
analyzer/symbolize/perf_map.h:
analyzer/symbolize/symbolizer.h:
analyzer/util/memory.h:
analyzer/view/table.h:
