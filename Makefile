# memprof: the heap profiler. `make help` lists what can be made here.
#
# Everything is built into $(B). The library and the analyzer share
# include/memprof and nothing else.

B ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
CFLAGS ?= -O2 -g
V ?= 0

ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' $(1) $(2);
else
Q :=
say =
endif

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla
STD := -std=gnu11

# ---- the library: no dependency but libc, nothing exported by accident --------
LIB_SRC := $(wildcard libmemprof/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
LIB_CFLAGS := $(STD) $(WARN) -Iinclude -Ilibmemprof -fPIC -fvisibility=hidden -fno-plt \
	-ftls-model=initial-exec -fno-omit-frame-pointer -fno-builtin -fno-stack-protector \
	-fno-optimize-sibling-calls -DXXH_INLINE_ALL
LIB_LDFLAGS := -shared -Wl,-z,now,-z,relro,-z,nodelete -Wl,--no-undefined \
	-Wl,--version-script=libmemprof/exports.map

# ---- the analyzer: one program, four names ------------------------------------
ANA_SRC := $(wildcard analyzer/*/*.c)
ANA_OBJ := $(ANA_SRC:%.c=$(B)/%.o)
ANA_CFLAGS := $(STD) $(WARN) -Iinclude -Ianalyzer -D_GNU_SOURCE
ANA_LIBS := -ldw -lelf -l:libiberty.a -lxxhash -lzstd -lz -lm -lpthread
TOOLS := memprof memprof-report memprof-diff memprof-gate

all: $(B)/libmemprof.so $(TOOLS:%=$(B)/%)

$(B)/libmemprof.so: $(LIB_OBJ) libmemprof/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJ) -lc

$(B)/libmemprof/%.o: libmemprof/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/memprof: $(ANA_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(ANA_OBJ) $(ANA_LIBS)

$(B)/memprof-report $(B)/memprof-diff $(B)/memprof-gate: $(B)/memprof
	$(Q)ln -sf memprof $@

$(B)/analyzer/%.o: analyzer/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(ANA_CFLAGS) -MMD -MP -c -o $@ $<

clean:
	$(Q)rm -rf $(B)

-include $(LIB_OBJ:.o=.d) $(ANA_OBJ:.o=.d)
.PHONY: all clean
