/*
 * Finding a name that harms nobody. Two processes can want the same one at the
 * same moment: creation is exclusive, and whoever moves a dead file out of the
 * way holds a lock on it and looks twice that the name still means that file. A
 * file without a header yet is being born as long as its maker holds its lock.
 */
#define _GNU_SOURCE
#include "trace_name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include <memprof/trace_format.h>
#include <memprof/varint.h>

#include "os.h"
#include "process_facts.h"

#define NUMBERS_MAX 1000
#define BIRTH_NS 2000000u

static const char default_name[] = "memprof.%e.%p.trace";

/* Long paths are kept off the stack, which can be a small one: only one thread
 * makes a trace at a time. */
static struct {
	char folder[OS_PATH_MAX];
	char wanted[TRACE_NAME_MAX];
	char old[TRACE_NAME_MAX + 8];
	char live[TRACE_NAME_MAX + 16];
	char old_live[TRACE_NAME_MAX + 24];
} paths;

/* ---- names ------------------------------------------------------------- */

static const char *fact_of(char letter, const struct process_facts *facts, char number[24])
{
	switch (letter) {
	case 'e':
		return facts->program;
	case 'h':
		return facts->host;
	case 'p':
		text_format(number, 24, "%lu", facts->pid);
		return number;
	case 'n':
		text_format(number, 24, "%lu", facts->image);
		return number;
	case 't':
		text_format(number, 24, "%lu", facts->start_unix_s);
		return number;
	default:
		return NULL;
	}
}

size_t trace_name_expand(const char *pattern, const struct process_facts *facts, char *out,
			 size_t room)
{
	size_t length = 0;
	char number[24];

	for (; *pattern && length + 1 < room; pattern++) {
		const char *fact = *pattern == '%' ? fact_of(pattern[1], facts, number) : NULL;

		if (fact) {
			length += text_format(out + length, room - length, "%s", fact);
			pattern++;
			continue;
		}
		out[length++] = *pattern;
		if (pattern[0] == '%' && pattern[1] == '%')
			pattern++;
	}
	out[length] = '\0';
	return *pattern || length + 1 >= room ? 0 : length;
}

static size_t fits(size_t length, size_t room)
{
	return length + 1 < room ? length : 0;
}

size_t trace_name_number(const char *path, unsigned number, char *out, size_t room)
{
	size_t stem = strlen(path);

	if (stem > 6 && text_equal(path + stem - 6, ".trace"))
		stem -= 6;
	if (stem + 32 >= room)
		return 0;
	memcpy(out, path, stem);
	return fits(stem + text_format(out + stem, room - stem, ".%u%s", number, path + stem),
		    room);
}

size_t trace_name_companion(const char *path, char *out, size_t room)
{
	const char *slash = text_find_last(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;

	if (folder + 8 >= room)
		return 0;
	memcpy(out, path, folder);
	return fits(folder + text_format(out + folder, room - folder, ".%s.live", path + folder),
		    room);
}

/* A folder's own name in a pattern: its % signs mean themselves. */
static size_t quote(const char *folder, char *out, size_t room)
{
	size_t length = 0;

	for (; *folder && length + 3 < room; folder++) {
		if (*folder == '%')
			out[length++] = '%';
		out[length++] = *folder;
	}
	out[length] = '\0';
	return length;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return os_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void trace_name_settle(const char *pattern, char *out, size_t room)
{
	char *folder = paths.folder;
	size_t length = 0;

	if (*pattern != '/' && !os_is_error(os_call2(SYS_getcwd, folder, OS_PATH_MAX)) &&
	    *folder == '/') {
		length = quote(folder, out, room);
		length += text_format(out + length, room - length, "/");
	}
	text_format(out + length, room - length, "%s", pattern);
	if (is_folder(pattern))
		text_format(out + strlen(out), room - strlen(out), "/%s", default_name);
}

void trace_name_move(const char *settled, const char *folder, char *out, size_t room)
{
	const char *slash = text_find_last(settled, '/');
	size_t length = quote(folder, out, room);

	text_format(out + length, room - length, "/%s", slash ? slash + 1 : settled);
}

/* ---- whose file is it? -------------------------------------------------- */

struct owner {
	uint64_t pid, proc_start;
	char boot_id[40];
};

static void owner_take_fact(struct owner *owner, const uint8_t *key, size_t key_bytes,
			    const uint8_t *value, size_t value_bytes)
{
	char name[16], text[40];
	const char *end;

	if (key_bytes >= sizeof(name) || value_bytes >= sizeof(text))
		return;
	memcpy(name, key, key_bytes);
	name[key_bytes] = '\0';
	memcpy(text, value, value_bytes);
	text[value_bytes] = '\0';
	if (text_equal(name, "pid"))
		text_number(text, &end, &owner->pid);
	else if (text_equal(name, "proc_start"))
		text_number(text, &end, &owner->proc_start);
	else if (text_equal(name, "boot_id"))
		memcpy(owner->boot_id, text, sizeof(text));
}

/* The META records at the start of a trace; false: it isn't one. */
static bool owner_read(struct owner *owner, int fd)
{
	uint8_t head[1024];
	long bytes = os_pread(fd, head, sizeof(head), 0);
	const uint8_t *at = head + TRACE_PIECE_BYTES, *end = head + bytes;
	uint64_t kind, length, key;
	struct trace_piece piece;

	memset(owner, 0, sizeof(*owner));
	if (bytes < (long)TRACE_PIECE_BYTES)
		return false;
	memcpy(&piece, head, sizeof(piece));
	if (piece.magic != TRACE_PIECE_MAGIC || piece.kind != TRACE_PIECE_HEADER)
		return false;
	while (at < end && *at == TRACE_OP_EXTENDED) {
		at = varint_load(at + 1, end, &kind);
		at = at ? varint_load(at, end, &length) : NULL;
		if (!at || length > (uint64_t)(end - at) || kind != TRACE_KIND_META)
			break;
		const uint8_t *name = varint_load(at, at + length, &key);

		if (name && key <= (uint64_t)(at + length - name))
			owner_take_fact(owner, name, key, name + key,
					(size_t)(at + length - name - key));
		at += length;
	}
	return owner->pid != 0;
}

static bool names_this_file(const char *path, int fd)
{
	struct stat by_name, by_fd;

	return os_lstat(path, &by_name) == 0 && os_fstat(fd, &by_fd) == 0 &&
	       by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

static bool lock_file(int fd)
{
	return os_call2(SYS_flock, fd, LOCK_EX | LOCK_NB) == 0;
}

/* Under the file's lock: has it nobody who still writes it? */
static bool is_abandoned(const char *path, int fd)
{
	struct owner owner;
	struct stat st;

	if (!owner_read(&owner, fd) && os_fstat(fd, &st) == 0 && st.st_size == 0) {
		/* Created this very moment, its maker not yet at the lock? */
		os_call2(SYS_flock, fd, LOCK_UN);
		os_sleep_ns(BIRTH_NS);
		if (!lock_file(fd))
			return false;
		owner_read(&owner, fd);
	}
	if (owner.pid && process_is_alive(owner.pid, owner.proc_start, owner.boot_id))
		return false;
	return names_this_file(path, fd);
}

static void move_to_old(const char *path)
{
	text_format(paths.old, sizeof(paths.old), "%s.old", path);
	if (os_call2(SYS_rename, path, paths.old) != 0)
		return;
	if (!trace_name_companion(path, paths.live, sizeof(paths.live)) ||
	    !trace_name_companion(paths.old, paths.old_live, sizeof(paths.old_live)))
		return;
	if (os_call2(SYS_rename, paths.live, paths.old_live) == -ENOENT)
		os_call1(SYS_unlink, paths.old_live);
}

/* false: it stays where it is, take another name. */
static bool clear_away(const char *path)
{
	struct stat st;
	int fd;

	if (os_lstat(path, &st) != 0)
		return true;
	if (!S_ISREG(st.st_mode))
		return false;
	fd = os_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return fd == -ENOENT;
	if (lock_file(fd) && is_abandoned(path, fd))
		move_to_old(path);
	os_close(fd);
	return os_lstat(path, &st) != 0;
}

/* ---- making it ---------------------------------------------------------- */

static int create(const char *path)
{
	int fd = os_open_high(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600);

	if (fd < 0)
		return fd;
	os_call2(SYS_fchmod, fd, 0600);
	lock_file(fd);
	return fd;
}

static bool is_device(const char *path)
{
	struct stat st;

	return os_lstat(path, &st) == 0 &&
	       (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISFIFO(st.st_mode) ||
		S_ISSOCK(st.st_mode));
}

int trace_name_create(const char *settled, const struct process_facts *facts, char *path)
{
	char *wanted = paths.wanted;
	int fd;

	if (!trace_name_expand(settled, facts, wanted, TRACE_NAME_MAX))
		return -ENAMETOOLONG;
	if (is_device(wanted))
		return -ENOTSUP;
	text_format(path, TRACE_NAME_MAX, "%s", wanted);
	for (unsigned number = 2; number < NUMBERS_MAX; number++) {
		fd = create(path);
		if (fd == -EEXIST && clear_away(path))
			fd = create(path);
		if (fd != -EEXIST)
			return fd;
		if (!trace_name_number(wanted, number, path, TRACE_NAME_MAX))
			return -ENAMETOOLONG;
	}
	return -EEXIST;
}
