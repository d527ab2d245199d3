/*
 * See live_process.h. The way to the files: the companion is mapped by the
 * process, so /proc/PID/maps names it; it is opened through /proc/PID/root,
 * which leads into the process's own view of the file system, and its inode is
 * compared with the mapped one. The trace is named by the companion and opened
 * the same way.
 */
#include "trace/live_process.h"

#include "memprof/varint.h"
#include "util/file_io.h"
#include "util/process_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

struct live_process {
	pid_t pid;
	int companion;
	int trace;
	struct control_page *control;
	uint32_t sequence;
	char companion_path[PATH_MAX];
	char trace_path[PATH_MAX];
};

/* What a line of /proc/PID/maps says of a mapped companion. */
struct mapped_file {
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];
};

static int not_found(struct error *err, pid_t pid, const char *words)
{
	char place[64];

	snprintf(place, sizeof(place), "process %d", (int)pid);
	return error_set(err, ERROR_NOT_FOUND, place, ERROR_NO_OFFSET, "%s", words);
}

static bool is_companion_name(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t length = strlen(path);

	return name && name[1] == '.' && length > 5 && !strcmp(path + length - 5, ".live");
}

static bool parse_maps_line(const char *line, struct mapped_file *file)
{
	unsigned major, minor;
	unsigned long inode;
	int at = 0;

	if (sscanf(line, "%*x-%*x %*4c %*x %x:%x %lu %n", &major, &minor, &inode, &at) != 3 || !at)
		return false;
	file->device = makedev(major, minor);
	file->inode = inode;
	snprintf(file->path, sizeof(file->path), "%s", line + at);
	file->path[strcspn(file->path, "\n")] = 0;
	return is_companion_name(file->path);
}

static int find_companion(pid_t pid, struct mapped_file *file, struct error *err)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps && errno == ENOENT)
		return not_found(err, pid, "there is no such process");
	if (!maps)
		return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "%s", strerror(errno));
	while (!found && getline(&line, &room, maps) > 0)
		found = parse_maps_line(line, file);
	free(line);
	fclose(maps);
	if (!found)
		return not_found(err, pid, "is not being recorded: it maps no companion file "
					   "(.NAME.live); start it with memprof run or LD_PRELOAD");
	return 0;
}

/* Opens @path as process @pid sees it. */
static int open_in_root(pid_t pid, const char *path, int flags, char *full, size_t room)
{
	int bytes = snprintf(full, room, "/proc/%d/root%s", (int)pid, path);

	if (bytes < 0 || (size_t)bytes >= room) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(full, flags | O_CLOEXEC | O_NOFOLLOW);
}

static bool read_small_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

static int check_identity(const struct live_process *process, struct error *err)
{
	const struct control_page *control = process->control;
	char boot[64];

	if (memcmp(control->magic, CONTROL_MAGIC, sizeof(control->magic)))
		return error_set(err, ERROR_FORMAT, process->companion_path, 0,
				 "is not a companion file of memprof");
	if (control->version != CONTROL_VERSION)
		return error_set(err, ERROR_FORMAT, process->companion_path, 8,
				 "has version %u, this memprof knows version %d",
				 control->version, CONTROL_VERSION);
	if (!read_small_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) ||
	    strncmp(boot, control->boot_id, 36))
		return error_set(err, ERROR_FORMAT, process->companion_path, ERROR_NO_OFFSET,
				 "is left from before the last boot of this machine");
	/* `memprof run` and `memprof ctl` have the companions of others open. */
	if (control->pid != process_id_own(process->pid) ||
	    control->proc_start != process_id_start_time(process->pid))
		return not_found(err, process->pid,
				 "is not being recorded itself: the companion file that it maps is "
				 "another process's; for the programs that it runs say --all");
	return 0;
}

static int open_companion(struct live_process *process, struct error *err)
{
	struct mapped_file file;
	struct stat status;
	void *map;
	int code = find_companion(process->pid, &file, err);

	if (code)
		return code;
	process->companion = open_in_root(process->pid, file.path, O_RDWR, process->companion_path,
					  sizeof(process->companion_path));
	if (process->companion < 0)
		return error_set(err, ERROR_SYSTEM, file.path, ERROR_NO_OFFSET,
				 "can't open the companion of process %d: %s", (int)process->pid,
				 strerror(errno));
	if (fstat(process->companion, &status) || status.st_ino != file.inode ||
	    status.st_size < (off_t)CONTROL_PAGE_BYTES)
		return error_set(err, ERROR_FORMAT, file.path, ERROR_NO_OFFSET,
				 "is not the file that process %d has mapped", (int)process->pid);
	map = mmap(NULL, CONTROL_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		   process->companion, 0);
	if (map == MAP_FAILED)
		return error_set(err, ERROR_SYSTEM, file.path, ERROR_NO_OFFSET,
				 "can't map it: %s", strerror(errno));
	process->control = map;
	return check_identity(process, err);
}

/* The companion's words are those of a program that may want us to write elsewhere:
 * only to a trace, and to one of the same owner. */
static bool is_trace_beside(const struct live_process *process, const struct stat *trace)
{
	struct stat companion;
	uint32_t magic;

	return !fstat(process->companion, &companion) && companion.st_uid == trace->st_uid &&
	       file_read_at(process->trace, &magic, sizeof(magic), 0) == sizeof(magic) &&
	       magic == TRACE_PIECE_MAGIC;
}

static int open_trace(struct live_process *process, struct error *err)
{
	char path[sizeof(process->control->trace_path)];
	struct stat status;

	memcpy(path, process->control->trace_path, sizeof(path));
	path[sizeof(path) - 1] = 0;
	process->trace = open_in_root(process->pid, path, O_RDWR, process->trace_path,
				      sizeof(process->trace_path));
	if (process->trace < 0)
		return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET,
				 "can't open the trace of process %d: %s", (int)process->pid,
				 strerror(errno));
	if (fstat(process->trace, &status) || !S_ISREG(status.st_mode) ||
	    status.st_ino != process->control->trace_inode)
		return error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
				 "is not the file that process %d writes", (int)process->pid);
	if (!is_trace_beside(process, &status))
		return error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
				 "is no trace of the owner of process %d, whatever its companion "
				 "says", (int)process->pid);
	return 0;
}

int live_process_open(pid_t pid, struct live_process **result, struct error *err)
{
	struct live_process *process = calloc(1, sizeof(*process));
	int code;

	if (!process)
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "out of memory");
	process->pid = pid;
	process->companion = process->trace = -1;
	code = open_companion(process, err);
	if (!code)
		code = open_trace(process, err);
	if (code) {
		live_process_close(process);
		return code;
	}
	*result = process;
	return 0;
}

void live_process_close(struct live_process *process)
{
	if (!process)
		return;
	if (process->control)
		munmap(process->control, CONTROL_PAGE_BYTES);
	if (process->companion >= 0)
		close(process->companion);
	if (process->trace >= 0)
		close(process->trace);
	free(process);
}

const struct control_page *live_process_control(const struct live_process *process)
{
	return process->control;
}

const char *live_process_trace_path(const struct live_process *process)
{
	return process->trace_path;
}

/* The generation follows the word it announces. */
static void announce(struct live_process *process)
{
	__atomic_fetch_add(&process->control->generation, 1, __ATOMIC_RELEASE);
}

void live_process_set_active(struct live_process *process, bool is_active)
{
	__atomic_store_n(&process->control->is_active, is_active, __ATOMIC_RELAXED);
	announce(process);
}

void live_process_set_rate(struct live_process *process, uint64_t rate_bytes)
{
	__atomic_store_n(&process->control->rate_bytes, rate_bytes, __ATOMIC_RELAXED);
	announce(process);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int live_process_append(struct live_process *process, enum trace_kind kind,
			const uint8_t *payload, size_t bytes, struct error *err)
{
	uint8_t unit[TRACE_UNIT_BYTES + VARINT_BYTES_MAX], *at = unit + TRACE_PIECE_BYTES;
	struct trace_piece piece = {
		.magic = TRACE_PIECE_MAGIC,
		.kind = TRACE_PIECE_OUTSIDE,
		.lane = (uint32_t)getpid(),
		.mono_ns = clock_ns(CLOCK_MONOTONIC_RAW),
		.real_ns = clock_ns(CLOCK_REALTIME),
	};
	uint64_t place;

	if (bytes > TRACE_RECORDS_MAX - 2 * VARINT_BYTES_MAX - 1)
		return error_set(err, ERROR_USAGE, process->trace_path, ERROR_NO_OFFSET,
				 "a record of %zu bytes is too long for one piece", bytes);
	*at++ = TRACE_OP_EXTENDED;
	at = varint_store(at, kind);
	at = varint_store(at, bytes);
	memcpy(at, payload, bytes);
	at += bytes;
	piece.word = (uint64_t)process->sequence++ << 32 |
		     (uint32_t)(at - unit - TRACE_PIECE_BYTES);
	memcpy(unit, &piece, sizeof(piece));
	piece.checksum = XXH3_64bits(unit, (size_t)(at - unit));
	memcpy(unit, &piece, sizeof(piece));

	place = __atomic_fetch_add(&process->control->tail, TRACE_UNIT_BYTES, __ATOMIC_RELAXED);
	if (place % TRACE_UNIT_BYTES || place > (uint64_t)INT64_MAX - TRACE_UNIT_BYTES)
		return error_set(err, ERROR_FORMAT, process->companion_path, ERROR_NO_OFFSET,
				 "its tail is damaged");
	if (!file_write_at(process->trace, unit, (size_t)(at - unit), place))
		return error_set(err, ERROR_SYSTEM, process->trace_path, place,
				 "can't append: %s", strerror(errno));
	return 0;
}

static uint8_t *store_string(uint8_t *at, const char *text, size_t length)
{
	at = varint_store(at, length);
	memcpy(at, text, length);
	return at + length;
}

int live_process_mark(struct live_process *process, enum trace_mark mark, const char *name,
		      const char *detail, uint64_t value, struct error *err)
{
	enum { TEXT_MAX = 1024 };
	uint8_t payload[2 * TEXT_MAX + 8 * VARINT_BYTES_MAX], *at = payload;

	at = varint_store(at, mark);
	at = store_string(at, name ? name : "", name ? strnlen(name, TEXT_MAX) : 0);
	at = store_string(at, detail ? detail : "", detail ? strnlen(detail, TEXT_MAX) : 0);
	at = varint_store(at, clock_ns(CLOCK_REALTIME));
	at = varint_store(at, value);
	return live_process_append(process, TRACE_KIND_MARK, payload, (size_t)(at - payload), err);
}

/* Adds the children of all threads of @pid; /proc/PID/task/TID/children. */
static ssize_t add_children(pid_t pid, pid_t **pids, ssize_t count, size_t *room)
{
	char path[300];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		FILE *children;
		int child;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, entry->d_name);
		children = fopen(path, "re");
		while (children && fscanf(children, "%d", &child) == 1) {
			if ((size_t)count == *room) {
				pid_t *more = realloc(*pids, 2 * *room * sizeof(**pids));

				if (!more)
					break;
				*pids = more;
				*room *= 2;
			}
			(*pids)[count++] = child;
		}
		if (children)
			fclose(children);
	}
	if (tasks)
		closedir(tasks);
	return count;
}

ssize_t live_process_tree(pid_t root, pid_t **result)
{
	size_t room = 64;
	ssize_t count = 1, i;
	pid_t *pids = malloc(room * sizeof(*pids));

	if (!pids)
		return ERROR_MEMORY;
	pids[0] = root;
	for (i = 0; i < count; i++)
		count = add_children(pids[i], &pids, count, &room);
	*result = pids;
	return count;
}
