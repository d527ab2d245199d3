build-oracle/analyzer/symbolize/perf_map.o: analyzer/symbolize/perf_map.c \
 analyzer/symbolize/perf_map.h analyzer/util/memory.h
analyzer/symbolize/perf_map.h:
analyzer/util/memory.h:
