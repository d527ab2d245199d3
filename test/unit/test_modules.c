/* LINK: library */
/* SANITIZE: no */
/*
 * Modules: known ones cost nothing, one that appears is told once, and another
 * one at the same address is noticed.
 */
#include "modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include <memprof/trace_format.h>
#include <memprof/varint.h>

#include "record_store.h"

#define RECORDS 64

struct module_told {
	uint64_t kind, start, end, bias, bytes, mtime, device, inode;
	size_t build_id_bytes;
	char path[512];
};

static struct module_told told[RECORDS];
static unsigned told_count;
static uint8_t records[65536];

static uint64_t number(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	*at = varint_load(*at, end, &value);
	assert_non_null(*at);
	return value;
}

static void take_module(struct module_told *module, const uint8_t *at, const uint8_t *end)
{
	uint64_t length;

	module->start = number(&at, end);
	if (module->kind == TRACE_KIND_MODULE_GONE)
		return;
	module->end = number(&at, end);
	module->bias = number(&at, end);
	module->bytes = number(&at, end);
	module->mtime = number(&at, end);
	module->device = number(&at, end);
	module->inode = number(&at, end);
	module->build_id_bytes = number(&at, end);
	at += module->build_id_bytes;
	length = number(&at, end);
	assert_true(length < sizeof(module->path));
	memcpy(module->path, at, length);
	module->path[length] = '\0';
	assert_ptr_equal(at + length, end);
}

static void take_records(size_t bytes)
{
	const uint8_t *at = records, *end = records + bytes;

	memset(told, 0, sizeof(told));
	for (told_count = 0; at < end; told_count++) {
		uint64_t length;

		assert_int_equal(*at++, TRACE_OP_EXTENDED);
		assert_true(told_count < RECORDS);
		told[told_count].kind = number(&at, end);
		length = number(&at, end);
		take_module(&told[told_count], at, at + length);
		at += length;
	}
}

static size_t store_loaded(size_t room)
{
	struct record_cursor cursor = { .at = records, .end = records + room };

	modules_restart();
	modules_store_loaded(&cursor);
	take_records((size_t)(cursor.at - records));
	return (size_t)(cursor.at - records);
}

static const struct module_told *module_with(uintptr_t pc)
{
	for (unsigned i = 0; i < told_count; i++)
		if (told[i].kind == TRACE_KIND_MODULE && pc >= told[i].start && pc < told[i].end)
			return &told[i];
	return NULL;
}

static void expect_file(const struct module_told *module)
{
	struct stat st;

	assert_int_equal(stat(module->path, &st), 0);
	assert_int_equal(module->inode, st.st_ino);
	assert_int_equal(module->bytes, st.st_size);
	assert_int_equal(module->mtime,
			 (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec);
}

static void program_and_libraries_are_told_at_the_start(void **state)
{
	const struct module_told *own, *libc;
	Dl_info info;

	(void)state;
	store_loaded(sizeof(records));
	own = module_with((uintptr_t)take_records);
	libc = module_with((uintptr_t)dlsym(RTLD_DEFAULT, "getenv"));
	assert_non_null(own);
	assert_non_null(libc);
	expect_file(own);
	expect_file(libc);
	assert_int_equal(libc->build_id_bytes, 20);
	assert_non_null(strstr(own->path, "test_modules"));
	assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "getenv"), &info), 0);
	assert_int_equal(libc->bias, (uintptr_t)info.dli_fbase);
}

static void a_known_module_is_told_once(void **state)
{
	(void)state;
	store_loaded(sizeof(records));
	assert_int_equal(module_note_pc((uintptr_t)take_records, records), 0);
	assert_int_equal(module_note_pc((uintptr_t)store_loaded, records), 0);
	modules_changed();
	assert_int_equal(module_note_pc((uintptr_t)store_loaded, records), 0);
}

static void what_did_not_fit_is_told_when_it_comes_by(void **state)
{
	size_t bytes;

	(void)state;
	assert_true(store_loaded(100) <= 100);
	bytes = module_note_pc((uintptr_t)dlsym(RTLD_DEFAULT, "getenv"), records);
	take_records(bytes);
	assert_int_equal(told_count, 1);
	assert_non_null(module_with((uintptr_t)dlsym(RTLD_DEFAULT, "getenv")));
	assert_int_equal(module_note_pc((uintptr_t)dlsym(RTLD_DEFAULT, "getenv"), records), 0);
}

static void addresses_outside_of_modules_are_not_told(void **state)
{
	int local;

	(void)state;
	store_loaded(sizeof(records));
	assert_int_equal(module_note_pc((uintptr_t)&local, records), 0);
	assert_int_equal(module_note_pc(16, records), 0);
}

/* Builds a library whose function lies wherever the loader puts it. */
static char *build_library(const char *name, const char *body)
{
	static char path[600];
	char command[1400];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/lib%s.so", folder ? folder : "/tmp", name);
	snprintf(command, sizeof(command), "echo '%s' | gcc -shared -fPIC -x c -o %s - ", body,
		 path);
	assert_int_equal(system(command), 0);
	return path;
}

static void another_library_at_the_same_address_is_noticed(void **state)
{
	void *first, *second;
	uintptr_t first_pc, second_pc;
	size_t bytes;

	(void)state;
	store_loaded(sizeof(records));
	first = dlopen(build_library("first", "int f(void) { return 1; }"), RTLD_NOW);
	assert_non_null(first);
	first_pc = (uintptr_t)dlsym(first, "f");
	modules_changed();
	bytes = module_note_pc(first_pc, records);
	take_records(bytes);
	assert_int_equal(told_count, 1);
	assert_non_null(strstr(told[0].path, "libfirst.so"));
	expect_file(&told[0]);

	dlclose(first);
	second = dlopen(build_library("other", "int f(void) { return 2; }"), RTLD_NOW);
	assert_non_null(second);
	second_pc = (uintptr_t)dlsym(second, "f");
	modules_changed();
	bytes = module_note_pc(second_pc, records);
	take_records(bytes);
	assert_non_null(module_with(second_pc));
	assert_non_null(strstr(module_with(second_pc)->path, "libother.so"));
	if (second_pc == first_pc) {
		assert_int_equal(told_count, 2);
		assert_int_equal(told[0].kind, TRACE_KIND_MODULE_GONE);
		assert_int_equal(told[0].start, told[1].start);
	}
	dlclose(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_and_libraries_are_told_at_the_start),
		cmocka_unit_test(a_known_module_is_told_once),
		cmocka_unit_test(what_did_not_fit_is_told_when_it_comes_by),
		cmocka_unit_test(addresses_outside_of_modules_are_not_told),
		cmocka_unit_test(another_library_at_the_same_address_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
