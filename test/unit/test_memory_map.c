/* LINK: analyzer */
/*
 * The map of a process: categories of a made-up smaps, and sums that agree with
 * the kernel's own for this very process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/memory_map.h"

static const char sample[] =
	"00400000-00402000 r-xp 00000000 08:01 11   /usr/bin/a b\nRss: 8 kB\nAnonymous: 4 kB\n"
	"00602000-00603000 rw-p 00002000 08:01 11   /usr/bin/a b\nRss: 4 kB\nAnonymous: 4 kB\n"
	"01000000-01100000 rw-p 00000000 00:00 0    [heap]\nRss: 1000 kB\nVmFlags: rd wr\n"
	"7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \nRss: 100 kB\n"
	"7f0001000000-7f0001001000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
	"7f0001001000-7f0001801000 rw-p 00000000 00:00 0 \nRss: 16 kB\n"
	"7f0002000000-7f0002100000 rw-p 00000000 00:00 0 \nRss: 512 kB\nSwap: 4 kB\n"
	"7f0003000000-7f0003010000 rw-s 00000000 00:05 9 /x/.a.trace.live\nRss: 64 kB\n"
	"7f0004000000-7f0004001000 rw-s 00000000 00:05 9 /dev/shm/q\nRss: 4 kB\n"
	"7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0 [stack]\nRss: 12 kB\n"
	"7ffe00030000-7ffe00031000 r-xp 00000000 00:00 0 [vdso]\nRss: 4 kB\n";

static void each_kind_of_mapping_has_its_category(void **state)
{
	static const enum memory_category expected[] = {
		MEMORY_CODE, MEMORY_FILE, MEMORY_HEAP, MEMORY_ARENA, MEMORY_ANONYMOUS,
		MEMORY_THREAD_STACK, MEMORY_ANONYMOUS, MEMORY_MEMPROF, MEMORY_SHARED,
		MEMORY_STACK, MEMORY_KERNEL,
	};
	struct memory_map map;
	size_t i;

	(void)state;
	assert_int_equal(memory_map_parse(sample, strlen(sample), &map, NULL), 0);
	assert_int_equal(map.count, sizeof(expected) / sizeof(expected[0]));
	for (i = 0; i < map.count; i++)
		assert_int_equal(map.mappings[i].category, expected[i]);
	assert_string_equal(map.mappings[0].name, "/usr/bin/a b");
	assert_int_equal(map.by_category[MEMORY_FILE_PRIVATE], 8 * 1024);
	assert_int_equal(map.by_category[MEMORY_CODE], 4 * 1024);
	assert_int_equal(map.resident, 1724 * 1024);
	assert_int_equal(map.swapped, 4096);
	memory_map_release(&map);
}

static void a_part_of_a_mapping_has_its_share(void **state)
{
	struct memory_map map;

	(void)state;
	memory_map_parse(sample, strlen(sample), &map, NULL);
	assert_int_equal(memory_map_resident_in(&map, 0x7f0002000000, 0x7f0002080000), 256 * 1024);
	assert_int_equal(memory_map_resident_in(&map, 0x7f0003000000, 0x7f0003010000), 0);
	memory_map_release(&map);
}

static void what_is_no_smaps_is_refused(void **state)
{
	struct memory_map map;

	(void)state;
	assert_int_equal(memory_map_parse("", 0, &map, NULL), ERROR_FORMAT);
	assert_int_equal(memory_map_parse("Rss: 1 kB\n\n-\n", 13, &map, NULL), ERROR_FORMAT);
}

static void sums_agree_with_the_kernel(void **state)
{
	static char text[4 << 20];
	FILE *file = fopen("/proc/self/smaps", "r");
	size_t bytes = fread(text, 1, sizeof(text), file), i;
	struct memory_map map;
	uint64_t sum = 0;

	(void)state;
	fclose(file);
	assert_int_equal(memory_map_parse(text, bytes, &map, NULL), 0);
	for (i = 0; i < MEMORY_CATEGORIES; i++)
		sum += map.by_category[i];
	assert_int_equal(sum, map.resident);
	assert_true(map.by_category[MEMORY_STACK] > 0 && map.by_category[MEMORY_CODE] > 0);
	memory_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_mapping_has_its_category),
		cmocka_unit_test(a_part_of_a_mapping_has_its_share),
		cmocka_unit_test(what_is_no_smaps_is_refused),
		cmocka_unit_test(sums_agree_with_the_kernel),
	};
	return cmocka_run_group_tests_name("memory_map", tests, NULL, NULL);
}
