build-oracle/analyzer/model/moment.o: analyzer/model/moment.c \
 analyzer/model/moment.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h
analyzer/model/moment.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
