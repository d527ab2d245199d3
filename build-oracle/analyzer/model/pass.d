build-oracle/analyzer/model/pass.o: analyzer/model/pass.c analyzer/model/pass.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h \
 analyzer/util/progress.h
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
analyzer/util/progress.h:
