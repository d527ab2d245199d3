build-oracle/analyzer/model/trace_set.o: analyzer/model/trace_set.c \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/error.h \
 analyzer/model/moment.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/option.h analyzer/util/memory.h
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
analyzer/model/moment.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/option.h:
analyzer/util/memory.h:
