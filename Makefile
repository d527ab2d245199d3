# memprof: the heap profiler. `make help` lists what can be made here.
#
# Everything is built into $(B). The library and the analyzer share
# include/memprof and nothing else.

B ?= build
PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
CFLAGS ?= -O2 -g
CXXFLAGS ?= $(CFLAGS)
V ?= 0
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
ONLY ?=

ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' $(1) $(2);
else
Q :=
say =
endif

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla
STD := -std=gnu11

all: $(B)/libmemprof.so ## build the library and the four commands into $(B)/
.PHONY: all

# ---- the library: no dependency but libc, nothing exported by accident --------
LIB_SRC := $(wildcard libmemprof/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
LIB_CFLAGS := $(STD) $(WARN) -Iinclude -Ilibmemprof -fPIC -fvisibility=hidden -fno-plt \
	-ftls-model=initial-exec -fno-omit-frame-pointer -fno-builtin -fno-stack-protector \
	-fno-optimize-sibling-calls -DXXH_INLINE_ALL
LIB_LDFLAGS := -shared -Wl,-z,now,-z,relro,-z,nodelete -Wl,--no-undefined \
	-Wl,--version-script=libmemprof/exports.map

$(B)/libmemprof.so: $(LIB_OBJ) libmemprof/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJ) -lc

# Hooks jump on and leave no frame: whoever they jump to sees the program.
$(B)/libmemprof/interpose.o: LIB_CFLAGS += -fomit-frame-pointer -foptimize-sibling-calls
# The walk needs all registers, and begins at a frame that it is given.
$(B)/libmemprof/unwind.o: LIB_CFLAGS += -fomit-frame-pointer -foptimize-sibling-calls

$(B)/libmemprof/%.o: libmemprof/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

# ---- the analyzer: one program, four names ------------------------------------
ANA_SRC := $(wildcard analyzer/*/*.c)
ANA_OBJ := $(ANA_SRC:%.c=$(B)/%.o)
ANA_CFLAGS := $(STD) $(WARN) -Iinclude -Ianalyzer -D_GNU_SOURCE
ANA_LIBS := -ldw -lelf -l:libiberty.a -lxxhash -llzma -lzstd -lz -lm -lpthread
# libdw and libdwarf have function names in common, so the one file that uses
# libdwarf is made one object with it that shows nothing but that file's own.
LIBDWARF := $(shell $(CC) -print-file-name=libdwarf.a 2>/dev/null)
hide_libdwarf = $(if $(filter %/symbolize_dwarf.o,$(1)),&& ld -r -o $(1:.o=.all) $(1) $(LIBDWARF) \
	&& objcopy -w --keep-global-symbol='libdwarf_reader_*' $(1:.o=.all) $(1) && rm $(1:.o=.all))
TOOLS := memprof memprof-report memprof-diff memprof-gate

all: $(TOOLS:%=$(B)/%)

$(B)/memprof: $(ANA_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(ANA_OBJ) $(ANA_LIBS)

$(B)/memprof-report $(B)/memprof-diff $(B)/memprof-gate: $(B)/memprof
	$(Q)ln -sf memprof $@

$(B)/analyzer/%.o: analyzer/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(ANA_CFLAGS) -MMD -MP -c -o $@ $< $(call hide_libdwarf,$@)

# ---- unit tests ----------------------------------------------------------------
# Each test/unit/test_X.c says in its first lines what it needs (test/README.md).
# A flavour is a folder of objects, archived as library.a (all but the exported
# hooks), analyzer.a and helpers.a, and the tests linked against them.
UNIT_SRC := $(wildcard test/unit/test_*.c)
UNIT_HELPER := $(filter-out $(UNIT_SRC),$(wildcard test/unit/*.c))
UNIT_CFLAGS := $(STD) $(WARN) -Iinclude -Ilibmemprof -Ianalyzer -Itest/unit -D_GNU_SOURCE \
	-DXXH_INLINE_ALL
unit_with = $(if $(UNIT_SRC),$(shell grep -lE '^(/\*| \*|//) *$(1)' $(UNIT_SRC)))

UNIT_LIBRARY := $(call unit_with,LINK:.*library)
UNIT_ANALYZER := $(call unit_with,LINK:.*analyzer)
UNIT_PLAIN := $(call unit_with,SANITIZE: no)
UNIT_TSAN := $(call unit_with,TSAN: yes)
UNIT_ASAN := $(filter-out $(UNIT_PLAIN),$(UNIT_SRC))

ASAN_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
TSAN_FLAGS := -O1 -g -fsanitize=thread

# unit_objects NAME,FLAGS: the objects of both halves once more
define unit_objects
$(B)/$(1)/libmemprof/%.o: libmemprof/%.c
	$$(call say,'CC $(1)',$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(LIB_CFLAGS) $(2) -MMD -MP -c -o $$@ $$<
$(B)/$(1)/analyzer/%.o: analyzer/%.c
	$$(call say,'CC $(1)',$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(ANA_CFLAGS) $(2) -MMD -MP -c -o $$@ $$< $$(call hide_libdwarf,$$@)
-include $(patsubst %.c,$(B)/$(1)/%.d,$(LIB_SRC) $(ANA_SRC))
endef

# unit_flavour NAME,FLAGS,TESTS,FOLDER OF OBJECTS
define unit_flavour
$(B)/$(1)/test/%.o: test/unit/%.c
	$$(call say,'CC $(1)',$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(UNIT_CFLAGS) $(2) -MMD -MP -c -o $$@ $$<
$(B)/$(1)/library.a: $(patsubst %.c,$(4)/%.o,$(filter-out libmemprof/interpose.c,$(LIB_SRC)))
$(B)/$(1)/analyzer.a: $(patsubst %.c,$(4)/%.o,$(ANA_SRC))
$(B)/$(1)/helpers.a: $(patsubst test/unit/%.c,$(B)/$(1)/test/%.o,$(UNIT_HELPER))
$(B)/$(1)/library.a $(B)/$(1)/analyzer.a $(B)/$(1)/helpers.a:
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
$(foreach test,$(3),$(call unit_program,$(1),$(2),$(test:test/unit/%.c=%),$(test)))
-include $(patsubst test/unit/%.c,$(B)/$(1)/test/%.d,$(UNIT_SRC) $(UNIT_HELPER))
endef

# unit_program FLAVOUR,FLAGS,NAME,SOURCE
define unit_program

$(B)/$(1)/$(3): $(B)/$(1)/test/$(3).o $(B)/$(1)/helpers.a \
		$(if $(filter $(4),$(UNIT_LIBRARY)),$(B)/$(1)/library.a) \
		$(if $(filter $(4),$(UNIT_ANALYZER)),$(B)/$(1)/analyzer.a)
	$$(call say,'LINK $(1)',$$@)
	$$(Q)$$(CC) $(2) $$(LDFLAGS) -o $$@ -Wl,--start-group $$^ -Wl,--end-group -lcmocka $$(ANA_LIBS)
endef

$(eval $(call unit_objects,asan,$(ASAN_FLAGS)))
$(eval $(call unit_objects,tsan,$(TSAN_FLAGS)))
$(eval $(call unit_flavour,plain,-O2 -g,$(UNIT_PLAIN),$(B)))
$(eval $(call unit_flavour,asan,$(ASAN_FLAGS),$(UNIT_ASAN),$(B)/asan))
$(eval $(call unit_flavour,tsan,$(TSAN_FLAGS),$(UNIT_TSAN),$(B)/tsan))

UNIT_PROGRAMS := $(UNIT_ASAN:test/unit/%.c=$(B)/asan/%) $(UNIT_PLAIN:test/unit/%.c=$(B)/plain/%) \
	$(UNIT_TSAN:test/unit/%.c=$(B)/tsan/%)

# ---- programs that the integration tests run -----------------------------------
PROGRAM_SRC := $(wildcard test/programs/*.c test/programs/*.cc)
PROGRAM_LIB := $(filter test/programs/lib%.c,$(PROGRAM_SRC))
PROGRAMS := $(patsubst test/programs/%.c,$(B)/test/%,$(filter-out $(PROGRAM_LIB),$(filter %.c,$(PROGRAM_SRC)))) \
	$(patsubst test/programs/%.cc,$(B)/test/%,$(filter %.cc,$(PROGRAM_SRC))) \
	$(PROGRAM_LIB:test/programs/%.c=$(B)/test/%.so)
program_flags = $(shell sed -n '1s,^/\* FLAGS: \(.*\) \*/$$,\1,p' $(1))
PROGRAM_FLAGS := -O2 -g -pthread -Wall -Wextra -Iinclude

$(B)/test/%: test/programs/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(call program_flags,$<)
$(B)/test/%: test/programs/%.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(PROGRAM_FLAGS) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(call program_flags,$<)
$(B)/test/%.so: test/programs/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -fPIC -shared -MMD -MP -MT $@ -MF $@.d -o $@ $< $(call program_flags,$<)

# ---- examples and demo -----------------------------------------------------------
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/*.c)) \
	$(patsubst examples/%.cc,$(B)/examples/%,$(wildcard examples/*.cc))

$(B)/examples/%: examples/%.c include/memprof/memprof.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -Wall -Wextra -Iinclude -o $@ $< -pthread
$(B)/examples/%: examples/%.cc include/memprof/memprof.h
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -O1 -g -Wall -Wextra -Iinclude -o $@ $< -pthread

examples: $(EXAMPLES) ## the programs in examples/

demo: ## profile a real program, find a planted leak (sets itself up)
	$(Q)test/setup build demo
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) all $(B)/examples/leaky-server
	$(Q)B=$(B) test/demo
.PHONY: examples demo

full-page: ## build the full HTML page, where there was no npm (sets itself up)
	$(Q)test/setup build page
	$(Q)rm -f $(B)/page/template.inc
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) all
.PHONY: full-page

# ---- what is measured ------------------------------------------------------------
BENCH_PROGRAMS := $(B)/bench/micro $(B)/bench/null.so

$(B)/bench/micro: test/bench/micro.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(STD) -O2 -g -pthread -fno-builtin -Wall -Wextra -o $@ $<
$(B)/bench/null.so: test/bench/null.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(STD) -O2 -g -D_GNU_SOURCE -fPIC -shared -fno-plt -fno-builtin -Wall -Wextra -o $@ $< -ldl

bench: ## what memprof costs beside others; BENCH="-w micro -p memprof -n 5 --scale 0.3"
	$(Q)test/setup build bench
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) all $(BENCH_PROGRAMS)
	$(Q)B=$(B) test/bench/run $(BENCH)
.PHONY: bench

# ---- checks ----------------------------------------------------------------------
# A test program or script is left out when ONLY is given and isn't in its name.
chosen = $(if $(ONLY),$(foreach t,$(1),$(if $(findstring $(ONLY),$(notdir $(t))),$(t))),$(1))
SCRIPTS := $(filter-out %.sh %.py %.limits %__pycache__,$(wildcard test/integration/*))
RUN := test/run --build $(B)

check: ## run the tests; ends with "N passed, N failed" (sets itself up)
	$(Q)test/setup build page check viewers symbols
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) test-programs
	$(Q)$(RUN) $(call chosen,$(UNIT_PROGRAMS) $(SCRIPTS))

check-long: ## the tests again, longer, and those that take long
	$(Q)test/setup build page check viewers symbols
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) test-programs
	$(Q)$(RUN) --long $(call chosen,$(UNIT_PROGRAMS) $(SCRIPTS))

unit: unit-programs ## the unit tests alone; ONLY=word chooses
	$(Q)$(RUN) $(call chosen,$(UNIT_PROGRAMS))

integration: all examples $(PROGRAMS) $(BENCH_PROGRAMS) $(B)/plain/test_symbolizer ## the integration tests alone; ONLY=word chooses
	$(Q)$(RUN) $(call chosen,$(SCRIPTS))

unit-programs: $(call chosen,$(UNIT_PROGRAMS))
test-programs: all examples unit-programs $(PROGRAMS) $(BENCH_PROGRAMS)
.PHONY: check check-long unit integration unit-programs test-programs

# ---- fuzzing ------------------------------------------------------------------------
# test/fuzz/fuzz_X.c with its corpus test/fuzz/corpus/X; what is found goes to $(B)/fuzz/X.
FUZZ := $(patsubst test/fuzz/fuzz_%.c,%,$(wildcard test/fuzz/fuzz_*.c))
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ_SECONDS ?= 60

$(B)/fuzz/obj/%.o: %.c
	$(call say,'CC fuzz',$<)
	@mkdir -p $(@D)
	$(Q)clang $(CPPFLAGS) $(ANA_CFLAGS) $(FUZZ_FLAGS) -MMD -MP -c -o $@ $< $(call hide_libdwarf,$@)
$(B)/fuzz/fuzz_%: $(B)/fuzz/obj/test/fuzz/fuzz_%.o $(ANA_SRC:%.c=$(B)/fuzz/obj/%.o)
	$(call say,'LINK fuzz',$@)
	$(Q)clang -fsanitize=fuzzer,address,undefined -o $@ $< \
		$(filter-out %/main.o,$(ANA_SRC:%.c=$(B)/fuzz/obj/%.o)) $(ANA_LIBS)

fuzz: ## fuzz each reader of foreign data for FUZZ_SECONDS=60 (ONLY=word chooses)
	$(Q)test/setup build check
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) $(patsubst %,$(B)/fuzz/fuzz_%,$(call chosen,$(FUZZ)))
	$(Q)set -e; for target in $(call chosen,$(FUZZ)); do \
		mkdir -p $(B)/fuzz/$$target/new; \
		$(B)/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2000 -verbosity=0 \
			-print_final_stats=1 -artifact_prefix=$(B)/fuzz/$$target/ $(B)/fuzz/$$target/new test/fuzz/corpus/$$target; done
.PHONY: fuzz
.SECONDARY:

# ---- installing -----------------------------------------------------------------
# bin/ the commands, lib/memprof/ the library (found from there by `memprof run`),
# include/memprof/memprof.h and its .pc file, man pages, JSON schemas.
VERSION := $(shell sed -n 's/^\#define MEMPROF_VERSION "\(.*\)"/\1/p' include/memprof/version.h 2>/dev/null)
root := $(DESTDIR)$(PREFIX)
MAN1 := $(wildcard man/*.1)
MAN_OTHER := $(wildcard man/*.3 man/*.5 man/*.7)
SCHEMAS := $(wildcard man/schema/*.json)
INSTALLED := $(TOOLS:%=bin/%) lib/memprof include/memprof/memprof.h lib/pkgconfig/memprof.pc \
	$(MAN1:man/%=share/man/man1/%) $(foreach page,$(MAN_OTHER),share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
	share/memprof share/doc/memprof

install: all ## install below $(DESTDIR)$(PREFIX)
	$(Q)install -d $(root)/bin $(root)/lib/memprof $(root)/lib/pkgconfig $(root)/include/memprof $(root)/share/doc/memprof
	$(Q)install -m 755 $(B)/memprof $(root)/bin/memprof
	$(Q)for name in $(filter-out memprof,$(TOOLS)); do ln -sf memprof $(root)/bin/$$name; done
	$(Q)install -m 755 $(B)/libmemprof.so $(root)/lib/memprof/libmemprof.so
	$(Q)install -m 644 include/memprof/memprof.h $(root)/include/memprof/memprof.h
	$(Q)sed 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(or $(VERSION),0),' include/memprof.pc.in >$(root)/lib/pkgconfig/memprof.pc
	$(Q)for page in $(MAN1) $(MAN_OTHER); do \
		install -D -m 644 $$page $(root)/share/man/man$${page##*.}/$$(basename $$page); done
	$(Q)for schema in $(SCHEMAS); do install -D -m 644 $$schema $(root)/share/memprof/schema/$$(basename $$schema); done
	$(Q)install -m 644 README.md LICENSE $(root)/share/doc/memprof/
	@echo "installed: $(root)/bin/memprof, $(root)/lib/memprof/libmemprof.so"

uninstall: ## remove what install put there
	$(Q)rm -rf $(INSTALLED:%=$(root)/%)
	$(Q)-rmdir $(root)/include/memprof 2>/dev/null || true

dist: ## a tar file of the committed source
	$(Q)git archive --format=tar.gz --prefix=memprof-$(or $(VERSION),0)/ -o $(B)/memprof-$(or $(VERSION),0).tar.gz HEAD
	@echo $(B)/memprof-$(or $(VERSION),0).tar.gz
.PHONY: install uninstall dist

# ---- the rest --------------------------------------------------------------------
help: ## this list
	@echo 'usage: make [TARGET] [VARIABLE=value]...'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo 'variables: B=$(B) CC=$(CC) CFLAGS="$(CFLAGS)" PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) V=1 (show commands)'

clean: ## remove what was built
	$(Q)rm -rf $(B)
.PHONY: help clean

# What the HTML page needs, when there is one.
-include analyzer/page/page.mk
-include $(LIB_OBJ:.o=.d) $(ANA_OBJ:.o=.d) $(wildcard $(B)/test/*.d)
