build-oracle/analyzer/model/profile.o: analyzer/model/profile.c \
 analyzer/model/profile.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/error.h analyzer/util/option.h analyzer/model/tallies.h \
 analyzer/model/pass.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/names.h \
 analyzer/util/memory.h
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
analyzer/model/names.h:
analyzer/util/memory.h:
