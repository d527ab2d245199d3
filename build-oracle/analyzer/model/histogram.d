build-oracle/analyzer/model/histogram.o: analyzer/model/histogram.c \
 analyzer/model/histogram.h analyzer/model/number.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h
analyzer/model/histogram.h:
analyzer/model/number.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
