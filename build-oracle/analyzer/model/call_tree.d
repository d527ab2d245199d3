build-oracle/analyzer/model/call_tree.o: analyzer/model/call_tree.c \
 analyzer/model/call_tree.h analyzer/model/profile.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h
analyzer/model/call_tree.h:
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
analyzer/util/memory.h:
