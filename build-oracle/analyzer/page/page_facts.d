build-oracle/analyzer/page/page_facts.o: analyzer/page/page_facts.c \
 analyzer/page/page_facts.h analyzer/model/histogram.h \
 analyzer/model/number.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/util/error.h analyzer/util/option.h analyzer/model/trace_set.h \
 analyzer/trace/trace.h include/memprof/trace_format.h \
 analyzer/model/tallies.h analyzer/util/memory.h
analyzer/page/page_facts.h:
analyzer/model/histogram.h:
analyzer/model/number.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/tallies.h:
analyzer/util/memory.h:
