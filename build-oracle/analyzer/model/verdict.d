build-oracle/analyzer/model/verdict.o: analyzer/model/verdict.c \
 analyzer/model/verdict.h analyzer/model/curves.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/tallies.h
analyzer/model/verdict.h:
analyzer/model/curves.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/tallies.h:
