build-oracle/analyzer/model/judgement.o: analyzer/model/judgement.c \
 analyzer/model/judgement.h analyzer/model/curves.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/tallies.h \
 analyzer/model/profile.h analyzer/model/verdict.h analyzer/util/memory.h
analyzer/model/judgement.h:
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
analyzer/model/profile.h:
analyzer/model/verdict.h:
analyzer/util/memory.h:
