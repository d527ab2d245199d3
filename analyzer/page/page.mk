# The HTML page: script and style bundled into one template, which the analyzer
# carries as bytes. Without node or npm the bytes are none (see bundle.sh).

PAGE_SRC := $(wildcard analyzer/page/src/*) analyzer/page/build.mjs analyzer/page/bundle.sh \
	analyzer/page/package-lock.json

$(B)/page/template.inc: $(PAGE_SRC)
	$(call say,PAGE,$@)
	$(Q)analyzer/page/bundle.sh $@

$(B)/analyzer/page/page_template.o: $(B)/page/template.inc
$(B)/analyzer/page/page_template.o: CPPFLAGS += -I$(B)/page

# For the SQLite export.
ANA_LIBS += -lsqlite3
