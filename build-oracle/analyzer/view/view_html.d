build-oracle/analyzer/view/view_html.o: analyzer/view/view_html.c \
 analyzer/view/view.h analyzer/model/profile.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h include/memprof/version.h \
 analyzer/model/filtered_pass.h analyzer/page/page_payload.h \
 analyzer/model/judgement.h analyzer/model/curves.h \
 analyzer/model/verdict.h analyzer/page/page_facts.h \
 analyzer/model/histogram.h analyzer/page/page_template.h \
 analyzer/util/memory.h analyzer/view/html_plain.h \
 analyzer/view/summary.h
analyzer/view/view.h:
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
include/memprof/version.h:
analyzer/model/filtered_pass.h:
analyzer/page/page_payload.h:
analyzer/model/judgement.h:
analyzer/model/curves.h:
analyzer/model/verdict.h:
analyzer/page/page_facts.h:
analyzer/model/histogram.h:
analyzer/page/page_template.h:
analyzer/util/memory.h:
analyzer/view/html_plain.h:
analyzer/view/summary.h:
