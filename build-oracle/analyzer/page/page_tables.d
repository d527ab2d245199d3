build-oracle/analyzer/page/page_tables.o: analyzer/page/page_tables.c \
 analyzer/page/page_writer.h analyzer/page/page_names.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/error.h analyzer/util/option.h analyzer/model/tallies.h \
 analyzer/model/pass.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/hash_map.h \
 analyzer/util/strings.h analyzer/view/json.h \
 analyzer/page/page_payload.h analyzer/model/judgement.h \
 analyzer/model/curves.h analyzer/model/verdict.h \
 analyzer/page/page_facts.h analyzer/model/histogram.h \
 analyzer/util/memory.h
analyzer/page/page_writer.h:
analyzer/page/page_names.h:
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
analyzer/util/hash_map.h:
analyzer/util/strings.h:
analyzer/view/json.h:
analyzer/page/page_payload.h:
analyzer/model/judgement.h:
analyzer/model/curves.h:
analyzer/model/verdict.h:
analyzer/page/page_facts.h:
analyzer/model/histogram.h:
analyzer/util/memory.h:
