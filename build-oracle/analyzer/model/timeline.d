build-oracle/analyzer/model/timeline.o: analyzer/model/timeline.c \
 analyzer/model/timeline.h analyzer/model/number.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h
analyzer/model/timeline.h:
analyzer/model/number.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
