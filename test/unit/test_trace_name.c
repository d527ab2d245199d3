/* LINK: library */
/*
 * Which file a trace becomes: templates, numbers, and that nobody's file is
 * written over, be its owner alive, dead, or just being born.
 */
#include "trace_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>
#include <cmocka.h>

#include <memprof/trace_format.h>

#include "process_facts.h"
#include "record_store.h"
#include "trace_header.h"

static struct process_facts facts;
static char folder[512];

static int begin(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	process_facts_read(&facts, NULL);
	snprintf(folder, sizeof(folder), "%s/trace_name.XXXXXX", base ? base : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static const char *in_folder(const char *name)
{
	static char paths[4][1024];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static bool exists(const char *name)
{
	struct stat st;

	return lstat(in_folder(name), &st) == 0;
}

static void write_file(const char *name, const void *bytes, size_t count)
{
	FILE *file = fopen(in_folder(name), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	fclose(file);
}

/* A trace that says it belongs to this process started at that time. */
static void write_trace(const char *name, unsigned long pid, unsigned long proc_start)
{
	union {
		struct trace_piece piece;
		uint8_t bytes[1024];
	} file = { .piece = { .magic = TRACE_PIECE_MAGIC, .kind = TRACE_PIECE_HEADER } };
	struct record_cursor cursor = {
		.at = file.bytes + TRACE_PIECE_BYTES,
		.end = file.bytes + sizeof(file.bytes),
	};

	meta_number(&cursor, "pid", pid);
	meta_number(&cursor, "proc_start", proc_start);
	meta_text(&cursor, "boot_id", facts.boot_id);
	file.piece.word = (uint64_t)(cursor.at - file.bytes - TRACE_PIECE_BYTES);
	write_file(name, file.bytes, (size_t)(cursor.at - file.bytes));
}

/* Makes a trace for the pattern; returns the last part of its path. */
static const char *create(const char *pattern)
{
	static char path[TRACE_NAME_MAX];
	int fd = trace_name_create(in_folder(pattern), &facts, path);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 0);
	close(fd);
	assert_memory_equal(path, folder, strlen(folder));
	return path + strlen(folder) + 1;
}

static void a_template_is_filled_in(void **state)
{
	static struct process_facts some = {
		.pid = 123,
		.image = 4,
		.start_unix_s = 1700000000,
		.program = "app",
		.host = "box",
	};
	char out[64];

	(void)state;
	assert_int_equal(trace_name_expand("%e.%p.%n.%h.%t.%%.%q%", &some, out, sizeof(out)), 30);
	assert_string_equal(out, "app.123.4.box.1700000000.%.%q%");
	assert_int_equal(trace_name_expand("%e%e%e", &some, out, 10), 0);
	assert_int_equal(trace_name_expand("%e%e%e", &some, out, 11), 9);
}

static void numbers_come_before_the_ending(void **state)
{
	char out[64];

	(void)state;
	trace_name_number("/a/x.trace", 2, out, sizeof(out));
	assert_string_equal(out, "/a/x.2.trace");
	trace_name_number("/a/x", 13, out, sizeof(out));
	assert_string_equal(out, "/a/x.13");
	trace_name_companion("/a/x.trace", out, sizeof(out));
	assert_string_equal(out, "/a/.x.trace.live");
}

static void a_relative_pattern_stays_in_the_folder_of_the_start(void **state)
{
	char out[TRACE_NAME_MAX], odd[600], here[512];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(odd, sizeof(odd), "%s/100%%p", folder);
	assert_int_equal(mkdir(odd, 0700), 0);
	assert_int_equal(chdir(odd), 0);
	trace_name_settle("x.%p", out, sizeof(out));
	assert_int_equal(chdir(here), 0);
	snprintf(odd, sizeof(odd), "%s/100%%%%p/x.%%p", folder);
	assert_string_equal(out, odd);
}

static void a_folder_as_output_gets_the_default_name(void **state)
{
	char out[TRACE_NAME_MAX], wanted[600];

	(void)state;
	trace_name_settle(folder, out, sizeof(out));
	snprintf(wanted, sizeof(wanted), "%s/memprof.%%e.%%p.trace", folder);
	assert_string_equal(out, wanted);
}

static void a_free_name_is_taken_as_it_is(void **state)
{
	(void)state;
	assert_string_equal(create("new.trace"), "new.trace");
}

static void the_file_of_a_dead_process_becomes_old_with_its_companion(void **state)
{
	(void)state;
	write_trace("dead.trace", facts.pid, facts.proc_start + 1);
	write_file(".dead.trace.live", "slots", 5);
	write_file("dead.trace.old", "older", 5);
	assert_string_equal(create("dead.trace"), "dead.trace");
	assert_true(exists("dead.trace.old"));
	assert_true(exists(".dead.trace.old.live"));
	assert_false(exists(".dead.trace.live"));
}

static void a_companion_of_an_older_old_file_does_not_stay(void **state)
{
	(void)state;
	write_trace("gone.trace", facts.pid, facts.proc_start + 1);
	write_file(".gone.trace.old.live", "stale", 5);
	create("gone.trace");
	assert_false(exists(".gone.trace.old.live"));
}

static void the_file_of_a_living_process_is_left_alone(void **state)
{
	(void)state;
	write_trace("mine.trace", facts.pid, facts.proc_start);
	assert_string_equal(create("mine.trace"), "mine.2.trace");
	write_trace("mine.2.trace", facts.pid, facts.proc_start);
	assert_string_equal(create("mine.trace"), "mine.3.trace");
	assert_false(exists("mine.trace.old"));
}

static void an_unfinished_file_is_left_alone_while_its_maker_holds_it(void **state)
{
	char path[TRACE_NAME_MAX];
	int fd = trace_name_create(in_folder("born.trace"), &facts, path);

	(void)state;
	assert_true(fd >= 0);
	assert_string_equal(create("born.trace"), "born.2.trace");
	close(fd);
	assert_string_equal(create("born.trace"), "born.trace");
	assert_true(exists("born.trace.old"));
}

static void a_file_that_is_no_trace_is_kept_as_old(void **state)
{
	struct stat st;

	(void)state;
	write_file("notes.txt", "important", 9);
	assert_string_equal(create("notes.txt"), "notes.txt");
	assert_int_equal(stat(in_folder("notes.txt.old"), &st), 0);
	assert_int_equal(st.st_size, 9);
}

static void links_and_folders_are_never_followed_or_moved(void **state)
{
	struct stat st;

	(void)state;
	write_file("target", "keep", 4);
	assert_int_equal(symlink(in_folder("target"), in_folder("link.trace")), 0);
	assert_string_equal(create("link.trace"), "link.2.trace");
	assert_int_equal(symlink(in_folder("nowhere"), in_folder("dangling.trace")), 0);
	assert_string_equal(create("dangling.trace"), "dangling.2.trace");
	assert_false(exists("nowhere"));
	assert_int_equal(mkdir(in_folder("folder.trace"), 0700), 0);
	assert_string_equal(create("folder.trace"), "folder.2.trace");
	assert_int_equal(stat(in_folder("target"), &st), 0);
	assert_int_equal(st.st_size, 4);
}

static void devices_and_missing_folders_refuse(void **state)
{
	char path[TRACE_NAME_MAX];

	(void)state;
	assert_true(trace_name_create("/dev/null", &facts, path) < 0);
	assert_true(trace_name_create("/no/such/folder/x.trace", &facts, path) < 0);
	assert_true(trace_name_create("/proc/x.trace", &facts, path) < 0);
}

static void damaged_headers_belong_to_nobody(void **state)
{
	uint8_t bytes[1024];

	(void)state;
	for (unsigned seed = 1; seed < 200; seed++) {
		struct trace_piece piece = { .magic = TRACE_PIECE_MAGIC,
					     .kind = TRACE_PIECE_HEADER };

		srand(seed);
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)rand();
		memcpy(bytes, &piece, sizeof(piece));
		bytes[sizeof(piece)] = TRACE_OP_EXTENDED;
		bytes[sizeof(piece) + 1] = TRACE_KIND_META << 1 | 1;
		write_file("bad.trace", bytes, sizeof(bytes));
		assert_string_equal(create("bad.trace"), "bad.trace");
	}
}

static void images_of_a_pid_are_counted(void **state)
{
	static struct process_facts again;
	char previous[96];

	(void)state;
	snprintf(previous, sizeof(previous), "2 %lu %lu", facts.pid, facts.proc_start);
	process_facts_read(&again, previous);
	assert_int_equal(again.image, 3);
	snprintf(previous, sizeof(previous), "2 %lu %lu", facts.pid + 1, facts.proc_start);
	process_facts_read(&again, previous);
	assert_int_equal(again.image, 1);
	process_facts_read(&again, "nonsense");
	assert_int_equal(again.image, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_template_is_filled_in),
		cmocka_unit_test(numbers_come_before_the_ending),
		cmocka_unit_test(a_relative_pattern_stays_in_the_folder_of_the_start),
		cmocka_unit_test(a_folder_as_output_gets_the_default_name),
		cmocka_unit_test(a_free_name_is_taken_as_it_is),
		cmocka_unit_test(the_file_of_a_dead_process_becomes_old_with_its_companion),
		cmocka_unit_test(a_companion_of_an_older_old_file_does_not_stay),
		cmocka_unit_test(the_file_of_a_living_process_is_left_alone),
		cmocka_unit_test(an_unfinished_file_is_left_alone_while_its_maker_holds_it),
		cmocka_unit_test(a_file_that_is_no_trace_is_kept_as_old),
		cmocka_unit_test(links_and_folders_are_never_followed_or_moved),
		cmocka_unit_test(devices_and_missing_folders_refuse),
		cmocka_unit_test(damaged_headers_belong_to_nobody),
		cmocka_unit_test(images_of_a_pid_are_counted),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
