build-oracle/analyzer/page/page_template.o: \
 analyzer/page/page_template.c analyzer/page/page_template.h
analyzer/page/page_template.h:
