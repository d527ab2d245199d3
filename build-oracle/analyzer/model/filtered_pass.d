build-oracle/analyzer/model/filtered_pass.o: analyzer/model/filtered_pass.c \
 analyzer/model/filtered_pass.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/profile.h \
 analyzer/model/tallies.h analyzer/util/memory.h
analyzer/model/filtered_pass.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/profile.h:
analyzer/model/tallies.h:
analyzer/util/memory.h:
