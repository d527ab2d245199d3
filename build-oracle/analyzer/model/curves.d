build-oracle/analyzer/model/curves.o: analyzer/model/curves.c \
 analyzer/model/curves.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/tallies.h
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
