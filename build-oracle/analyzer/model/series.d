build-oracle/analyzer/model/series.o: analyzer/model/series.c \
 analyzer/model/series.h analyzer/model/difference.h \
 analyzer/model/between.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/profile.h \
 analyzer/model/tallies.h analyzer/model/significance.h \
 analyzer/model/site_match.h analyzer/util/memory.h
analyzer/model/series.h:
analyzer/model/difference.h:
analyzer/model/between.h:
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
analyzer/model/significance.h:
analyzer/model/site_match.h:
analyzer/util/memory.h:
