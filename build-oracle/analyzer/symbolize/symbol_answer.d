build-oracle/analyzer/symbolize/symbol_answer.o: \
 analyzer/symbolize/symbol_answer.c analyzer/symbolize/symbol_answer.h
analyzer/symbolize/symbol_answer.h:
