/* LINK: analyzer */
/* SANITIZE: no */
/*
 * From addresses to names, on programs built here: this very test, and small
 * ones that the compiler on this machine makes. (No sanitizers: the reading is
 * done in a child process with a limit on its address space.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/symbolizer.h"

static char folder[512];

static void run(const char *format, ...)
{
	char command[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		fail_msg("this failed: %s", command);
}

/* Resolves one address of @path and hands out a copy of its frames' facts. */
struct found {
	unsigned count;
	char function[8][256], file[8][256];
	unsigned line[8];
	bool is_inlined[8];
	struct symbolizer_module_report report;
};

static void look_up(const struct symbolizer_options *options,
		    const struct symbolizer_module *module, uint64_t address, struct found *found)
{
	struct symbolizer *symbolizer = symbolizer_new(options);
	struct symbol_frames frames;
	struct error err = { 0 };

	assert_non_null(symbolizer);
	memset(found, 0, sizeof(*found));
	assert_int_equal(symbolizer_resolve(symbolizer, module, &address, 1, &frames,
					    &found->report, &err), 0);
	found->count = frames.count;
	for (unsigned i = 0; i < frames.count && i < 8; i++) {
		const struct symbol_frame *frame = frames.frames[i];

		snprintf(found->function[i], 256, "%s", frame->function ? frame->function : "");
		snprintf(found->file[i], 256, "%s", frame->file ? frame->file : "");
		found->line[i] = frame->line;
		found->is_inlined[i] = frame->is_inlined;
	}
	symbolizer_free(symbolizer);
}

/* The address of @symbol in @path, by nm. */
static uint64_t address_of(const char *path, const char *symbol)
{
	char command[1024], line[256];
	uint64_t address = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "nm '%s' | grep ' %s$'", path, symbol);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (fgets(line, sizeof(line), pipe))
		address = strtoull(line, NULL, 16);
	pclose(pipe);
	assert_int_not_equal(address, 0);
	return address;
}

static unsigned build_id_of(const char *path, uint8_t *id)
{
	char command[1024], text[256] = "";
	unsigned count = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p'", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (!fgets(text, sizeof(text), pipe))
		text[0] = 0;
	pclose(pipe);
	while (sscanf(text + 2 * count, "%2hhx", &id[count]) == 1)
		count++;
	return count;
}

static const char source[] = "#include <stdlib.h>\n"
			     "void *volatile sink;\n"
			     "static inline __attribute__((always_inline)) void inner(int n)\n"
			     "{\n"
			     "	sink = malloc(n);\n"
			     "}\n"
			     "__attribute__((noinline)) void outer(int n)\n"
			     "{\n"
			     "	inner(n);\n"
			     "	sink = 0;\n"
			     "}\n"
			     "int main(int c, char **v)\n"
			     "{\n"
			     "	(void)v;\n"
			     "	outer(c);\n"
			     "	return 0;\n"
			     "}\n";

static uint64_t site;    /* in outer, the call of malloc inlined from inner */
static uint8_t build_id[64];
static unsigned build_id_bytes;
static char program[600];

static int make_program(void **state)
{
	char path[600], command[1024], line[256];
	FILE *file;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/symXXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	setenv("XDG_CACHE_HOME", folder, 1);
	snprintf(path, sizeof(path), "%s/p.c", folder);
	file = fopen(path, "w");
	if (!file)
		return -1;
	fputs(source, file);
	fclose(file);
	snprintf(program, sizeof(program), "%s/p", folder);
	run("gcc -g -O2 -fno-builtin -Wl,--build-id -o %s %s", program, path);
	snprintf(command, sizeof(command),
		 "objdump -d %s | sed -n "
		 "'/<outer>:/,/^$/s/^ *\\([0-9a-f]*\\):.*call.*malloc.*/\\1/p'",
		 program);
	file = popen(command, "r");
	if (!file || !fgets(line, sizeof(line), file))
		return -1;
	pclose(file);
	site = strtoull(line, NULL, 16);
	build_id_bytes = build_id_of(program, build_id);
	return site && build_id_bytes ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	run("rm -rf %s", folder);
	return 0;
}

static struct symbolizer_module the_program(const char *path)
{
	return (struct symbolizer_module){ .path = path, .build_id = build_id,
					   .build_id_bytes = build_id_bytes };
}

static void expect_inner_in_outer(const struct found *found)
{
	assert_int_equal(found->count, 2);
	assert_string_equal(found->function[0], "inner");
	assert_int_equal(found->line[0], 5);
	assert_true(found->is_inlined[0]);
	assert_non_null(strstr(found->file[0], "/p.c"));
	assert_string_equal(found->function[1], "outer");
	assert_int_equal(found->line[1], 9);
	assert_false(found->is_inlined[1]);
	assert_int_equal(found->report.source, SYMBOLIZER_DWARF);
	assert_string_equal(found->report.words, "");
}

static void tells_inlined_calls_with_their_lines(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = the_program(program);
	struct found found;

	(void)state;
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
}

static void subtracts_the_bias(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = the_program(program);
	struct found found;

	(void)state;
	module.bias = 0x555555554000;
	look_up(&options, &module, site + module.bias, &found);
	expect_inner_in_outer(&found);
}

static void without_inlines_the_function_that_exists_is_told(void **state)
{
	struct symbolizer_options options = { .no_inlines = true };
	struct symbolizer_module module = the_program(program);
	struct found found;

	(void)state;
	look_up(&options, &module, site, &found);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.function[0], "outer");
	assert_int_equal(found.line[0], 9);
	assert_false(found.is_inlined[0]);
}

static void a_file_with_another_build_id_lends_no_names(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = the_program(program);
	uint8_t other[20] = { 1, 2, 3 };
	struct found found;

	(void)state;
	module.build_id = other;
	module.build_id_bytes = sizeof(other);
	look_up(&options, &module, site, &found);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.function[0], "");
	assert_int_equal(found.report.source, SYMBOLIZER_CHANGED);
	assert_non_null(strstr(found.report.words, "another"));
}

static void without_build_id_size_and_time_decide(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = the_program(program);
	struct found found;
	struct stat st;

	(void)state;
	assert_int_equal(stat(program, &st), 0);
	module.build_id_bytes = 0;
	module.file_bytes = (uint64_t)st.st_size;
	module.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ull +
			  (uint64_t)st.st_mtim.tv_nsec;
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	module.mtime_ns++;
	look_up(&options, &module, site, &found);
	assert_int_equal(found.report.source, SYMBOLIZER_CHANGED);
	assert_string_equal(found.function[0], "");
}

static void a_missing_file_is_named_as_missing(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = the_program("/nowhere/at/all");
	struct found found;

	(void)state;
	look_up(&options, &module, site, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.report.source, SYMBOLIZER_MISSING);
	assert_non_null(strstr(found.report.words, "gone"));
}

static void what_is_no_elf_file_is_named_as_unreadable(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = { 0 };
	struct found found;
	char path[600];

	(void)state;
	snprintf(path, sizeof(path), "%s/p.c", folder);
	module.path = path;
	look_up(&options, &module, 4096, &found);
	assert_int_equal(found.report.source, SYMBOLIZER_UNREADABLE);
}

static void finds_the_debug_file_of_a_stripped_program(void **state)
{
	struct symbolizer_options options = { 0 };
	char path[700], dir[700];
	const char *dirs[] = { dir, NULL };
	struct symbolizer_module module = the_program(path);
	struct found found;
	char id[129];

	(void)state;
	for (unsigned i = 0; i < build_id_bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", build_id[i]);
	snprintf(path, sizeof(path), "%s/stripped", folder);
	snprintf(dir, sizeof(dir), "%s/dbg", folder);
	run("cd %s && objcopy --only-keep-debug p p.debug && strip -o stripped p", folder);

	look_up(&options, &module, site, &found);
	assert_string_equal(found.function[0], "");

	/* a build-id folder */
	run("mkdir -p %s/.build-id/%.2s && cp %s/p.debug %s/.build-id/%.2s/%s.debug", dir, id,
	    folder, dir, id, id + 2);
	options.debug_dirs = dirs;
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);

	/* a debug link: beside the program, in .debug */
	options.debug_dirs = NULL;
	run("cd %s && objcopy --add-gnu-debuglink=p.debug stripped", folder);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	run("cd %s && mkdir .debug && mv p.debug .debug/", folder);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	run("cd %s && rm -r .debug", folder);
	look_up(&options, &module, site, &found);
	assert_non_null(strstr(found.report.words, "p.debug"));
}

static void a_debug_link_needs_the_right_checksum(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = { 0 };
	struct found found;
	char path[700];

	(void)state;
	snprintf(path, sizeof(path), "%s/linked", folder);
	module.path = path;
	run("cd %s && gcc -g -O2 -fno-builtin -Wl,--build-id=none -o plain p.c && "
	    "objcopy --only-keep-debug plain linked.debug && strip -o linked plain && "
	    "objcopy --add-gnu-debuglink=linked.debug linked", folder);
	look_up(&options, &module, site, &found);
	assert_int_equal(found.report.source, SYMBOLIZER_DWARF);
	run("cd %s && echo >> linked.debug", folder);
	look_up(&options, &module, site, &found);
	assert_int_not_equal(found.report.source, SYMBOLIZER_DWARF);
}

static void looks_under_the_sysroot_first(void **state)
{
	char root[600];
	struct symbolizer_options options = { .sysroot = root };
	struct symbolizer_module module = the_program("/opt/elsewhere/p");
	struct found found;

	(void)state;
	snprintf(root, sizeof(root), "%s/root", folder);
	run("mkdir -p %s/opt/elsewhere && cp %s %s/opt/elsewhere/p", root, program, root);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	assert_non_null(strstr(found.report.file, "/root/opt/elsewhere/p"));
}

static void symbols_alone_name_functions_but_honour_their_size(void **state)
{
	struct symbolizer_options options = { 0 };
	char path[700];
	struct symbolizer_module module = the_program(path);
	struct found found;
	uint64_t outer = address_of(program, "outer");

	(void)state;
	snprintf(path, sizeof(path), "%s/nodebug", folder);
	run("cd %s && strip -g -o nodebug p", folder);
	look_up(&options, &module, outer, &found);
	assert_string_equal(found.function[0], "outer");
	assert_int_equal(found.report.source, SYMBOLIZER_SYMBOLS);
	assert_int_equal(found.line[0], 0);
	assert_non_null(strstr(found.report.words, "-g"));
	look_up(&options, &module, outer + 4096, &found);
	assert_string_not_equal(found.function[0], "outer");
}

static void a_batch_may_hold_an_address_twice_and_in_any_order(void **state)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = the_program(program);
	struct symbolizer *symbolizer = symbolizer_new(&options);
	uint64_t addresses[5] = { site, 1, address_of(program, "main"), site, 0 };
	struct symbol_frames frames[5], again;
	struct symbolizer_module_report report;
	struct error err;

	(void)state;
	assert_int_equal(symbolizer_resolve(symbolizer, &module, addresses, 5, frames, &report,
					    &err), 0);
	assert_string_equal(frames[0].frames[0]->function, "inner");
	assert_null(frames[1].frames[0]->function);
	assert_string_equal(frames[2].frames[0]->function, "main");
	assert_ptr_equal(frames[3].frames, frames[0].frames);
	assert_int_equal(report.addresses, 5);
	assert_int_equal(report.named, 3);
	assert_int_equal(report.with_inlines, 2);
	assert_int_equal(symbolizer_resolve(symbolizer, &module, addresses, 1, &again, NULL, &err),
			 0);
	assert_ptr_equal(again.frames, frames[0].frames);
	symbolizer_free(symbolizer);
}

/* Mutations of a program with DWARF: each costs its own names at most. */
static void a_hostile_file_costs_its_own_names_only(void **state)
{
	struct symbolizer_options options = { .cache_folder = "" };
	struct symbolizer *symbolizer = symbolizer_new(&options);
	struct symbolizer_module good = the_program(program);
	struct symbol_frames last;
	uint8_t *bytes, *copy;
	char path[700];
	uint32_t random = 4711;
	struct stat st;
	FILE *file;
	size_t size;

	(void)state;
	assert_int_equal(stat(program, &st), 0);
	size = (size_t)st.st_size;
	bytes = malloc(size);
	copy = malloc(size);
	file = fopen(program, "rb");
	assert_true(bytes && copy && file && fread(bytes, 1, size, file) == size);
	fclose(file);
	for (unsigned i = 0; i < 150; i++) {
		struct symbolizer_module module = { .path = path };
		uint64_t addresses[2] = { site, site + 64 };
		struct symbol_frames frames[2];
		struct error err = { 0 };

		snprintf(path, sizeof(path), "%s/hostile%u", folder, i);
		memcpy(copy, bytes, size);
		for (unsigned n = 0; n < 40; n++) {
			random ^= random << 13, random ^= random >> 17, random ^= random << 5;
			copy[random % size] = (uint8_t)(random >> 24);
		}
		file = fopen(path, "wb");
		assert_true(file && fwrite(copy, 1, i % 5 ? size : random % size, file) > 0);
		fclose(file);
		assert_int_equal(symbolizer_resolve(symbolizer, &module, addresses, 2, frames, NULL,
						    &err), 0);
		assert_true(frames[0].count >= 1 && frames[1].count >= 1);
		unlink(path);
	}
	assert_int_equal(symbolizer_resolve(symbolizer, &good, &site, 1, &last, NULL, NULL), 0);
	assert_string_equal(last.frames[0]->function, "inner");
	symbolizer_free(symbolizer);
	free(bytes);
	free(copy);
}

/* libdw and libdwarf have function names in common: here both run. */
static void both_readers_run_in_one_process_and_agree(void **state)
{
	struct symbolizer_options options = { .cache_folder = "" };
	struct symbolizer *symbolizer = symbolizer_new(&options);
	struct symbolizer_module module = the_program(program);
	uint64_t addresses[64], start = address_of(program, "outer") & ~15ull;
	struct symbolizer_check check;
	struct error err;

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		addresses[i] = start + i;
	assert_int_equal(symbolizer_check(symbolizer, &module, addresses, 64, &check, &err), 0);
	assert_true(check.compared > 10);
	if (check.equal != check.compared)
		fail_msg("0x%llx: %s / %s", (unsigned long long)check.address, check.first,
			 check.second);
	symbolizer_free(symbolizer);
}

static void names_kept_in_a_trace_stand_in_for_a_lost_file(void **state)
{
	struct symbolizer_options options = { .cache_folder = "" };
	struct symbolizer *symbolizer = symbolizer_new(&options), *elsewhere;
	struct symbolizer_module module = the_program(program), lost = the_program("/lost/p");
	struct symbol_frames frames;
	struct error err;
	uint8_t *packed;
	size_t bytes;

	(void)state;
	assert_int_equal(symbolizer_pack(symbolizer, &module, &site, 1, &packed, &bytes, &err), 0);
	elsewhere = symbolizer_new(&options);
	/* in two parts */
	symbolizer_add_saved(elsewhere, &lost, 2, 0, 2, packed, bytes / 2, &err);
	symbolizer_add_saved(elsewhere, &lost, 2, 1, 2, packed + bytes / 2, bytes - bytes / 2,
			     &err);
	assert_int_equal(symbolizer_resolve(elsewhere, &lost, &site, 1, &frames, NULL, &err), 0);
	assert_int_equal(frames.count, 2);
	assert_string_equal(frames.frames[0]->function, "inner");
	assert_int_equal(frames.frames[0]->line, 5);
	assert_string_equal(frames.frames[1]->function, "outer");
	free(packed);
	symbolizer_free(elsewhere);
	symbolizer_free(symbolizer);
}

static void answers_are_kept_and_dropped_when_a_file_changes(void **state)
{
	char cache[600], path[700];
	struct symbolizer_options options = { .cache_folder = cache };
	struct symbolizer_module module = the_program(path);
	struct found found;

	(void)state;
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	snprintf(path, sizeof(path), "%s/kept", folder);
	run("cp -p %s %s", program, path);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	run("test $(ls %s | wc -l) = 1", cache);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	/* the file is stripped: same build-id, another file, other names */
	run("strip -g %s", path);
	look_up(&options, &module, site, &found);
	assert_string_equal(found.function[0], "outer");
	assert_int_equal(found.report.source, SYMBOLIZER_SYMBOLS);
}

static void the_cache_learns_more_addresses_of_a_module(void **state)
{
	char cache[600];
	struct symbolizer_options options = { .cache_folder = cache };
	struct symbolizer_module module = the_program(program);
	struct found found;

	(void)state;
	snprintf(cache, sizeof(cache), "%s/cache2", folder);
	look_up(&options, &module, site, &found);
	look_up(&options, &module, address_of(program, "main"), &found);
	assert_string_equal(found.function[0], "main");
	run("test $(ls %s | wc -l) = 1", cache);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
}

static void a_damaged_cache_file_is_not_believed(void **state)
{
	char cache[600];
	struct symbolizer_options options = { .cache_folder = cache };
	struct symbolizer_module module = the_program(program);
	struct found found;

	(void)state;
	snprintf(cache, sizeof(cache), "%s/cache3", folder);
	look_up(&options, &module, site, &found);
	run("f=$(ls %s/*) && printf X | dd of=$f bs=1 seek=200 conv=notrunc status=none", cache);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
	run("f=$(ls %s/*) && truncate -s 100 $f", cache);
	look_up(&options, &module, site, &found);
	expect_inner_in_outer(&found);
}

/* `test_symbolizer names PROGRAM` names the addresses on its input, in hex, as
 * llvm-symbolizer --inlines --no-demangle does: for test/integration. */
static int print_names(const char *path)
{
	struct symbolizer_options options = { .no_demangle = true, .cache_folder = "" };
	struct symbolizer *symbolizer = symbolizer_new(&options);
	struct symbolizer_module module = { .path = path };
	uint64_t *addresses = calloc(100000, sizeof(*addresses));
	struct symbol_frames *frames = calloc(100000, sizeof(*frames));
	struct error err = { 0 };
	size_t count = 0;
	char line[64];

	while (count < 100000 && fgets(line, sizeof(line), stdin))
		addresses[count++] = strtoull(line, NULL, 16);
	if (symbolizer_resolve(symbolizer, &module, addresses, count, frames, NULL, &err)) {
		error_print(&err, "test_symbolizer");
		return 2;
	}
	for (size_t i = 0; i < count; i++) {
		for (unsigned k = 0; k < frames[i].count; k++) {
			const struct symbol_frame *frame = frames[i].frames[k];

			printf("%s\n%s:%u\n", frame->function ? frame->function : "??",
			       frame->file ? frame->file : "??", frame->line);
		}
		puts("");
	}
	free(addresses);
	free(frames);
	symbolizer_free(symbolizer);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_inlined_calls_with_their_lines),
		cmocka_unit_test(subtracts_the_bias),
		cmocka_unit_test(without_inlines_the_function_that_exists_is_told),
		cmocka_unit_test(a_file_with_another_build_id_lends_no_names),
		cmocka_unit_test(without_build_id_size_and_time_decide),
		cmocka_unit_test(a_missing_file_is_named_as_missing),
		cmocka_unit_test(what_is_no_elf_file_is_named_as_unreadable),
		cmocka_unit_test(finds_the_debug_file_of_a_stripped_program),
		cmocka_unit_test(a_debug_link_needs_the_right_checksum),
		cmocka_unit_test(looks_under_the_sysroot_first),
		cmocka_unit_test(symbols_alone_name_functions_but_honour_their_size),
		cmocka_unit_test(a_batch_may_hold_an_address_twice_and_in_any_order),
		cmocka_unit_test(a_hostile_file_costs_its_own_names_only),
		cmocka_unit_test(both_readers_run_in_one_process_and_agree),
		cmocka_unit_test(names_kept_in_a_trace_stand_in_for_a_lost_file),
		cmocka_unit_test(answers_are_kept_and_dropped_when_a_file_changes),
		cmocka_unit_test(the_cache_learns_more_addresses_of_a_module),
		cmocka_unit_test(a_damaged_cache_file_is_not_believed),
	};

	if (argc == 3 && !strcmp(argv[1], "names"))
		return print_names(argv[2]);
	return cmocka_run_group_tests(tests, make_program, remove_folder);
}
