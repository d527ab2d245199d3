build-oracle/analyzer/model/tallies.o: analyzer/model/tallies.c \
 analyzer/model/tallies.h analyzer/model/number.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h
analyzer/model/tallies.h:
analyzer/model/number.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
