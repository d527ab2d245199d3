/*
 * See symbol_reader.h. Questions and answers go through a pair of sockets, each
 * as its length and its bytes. A question is the fields of struct object_query
 * in order (numbers as 8 bytes, strings and bytes with their length before
 * them), then the addresses.
 */
#include "symbolize/symbol_reader.h"

#include "symbolize/module_reader.h"
#include "symbolize/reader_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct symbol_reader {
	pid_t pid;              /* 0: none */
	int socket;
};

/* What one module may take: so much, and so much per byte of its files. */
#define CPU_SECONDS 20
#define CPU_BYTES_PER_SECOND ((uint64_t)2 << 20)
#define MEMORY_BYTES ((uint64_t)4 << 30)
#define MEMORY_PER_BYTE 12

#define DEBUG_DIRS_MAX 1024

/* ---- both sides ------------------------------------------------------------- */

static bool send_all(int socket, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		count -= (size_t)sent;
	}
	return true;
}

static bool receive_all(int socket, void *bytes, size_t count)
{
	char *at = bytes;

	while (count) {
		ssize_t got = recv(socket, at, count, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		count -= (size_t)got;
	}
	return true;
}

/* ---- the question ------------------------------------------------------------- */

struct message {
	uint8_t *bytes;
	size_t used, room;
	bool failed;
};

static void put(struct message *message, const void *bytes, size_t count)
{
	if (message->used + count > message->room) {
		size_t room = (message->used + count) * 2;
		uint8_t *bigger = message->failed ? NULL : realloc(message->bytes, room);

		if (!bigger) {
			message->failed = true;
			return;
		}
		message->bytes = bigger;
		message->room = room;
	}
	if (count)
		memcpy(message->bytes + message->used, bytes, count);
	message->used += count;
}

static void put_number(struct message *message, uint64_t number)
{
	put(message, &number, sizeof(number));
}

static void put_bytes(struct message *message, const void *bytes, size_t count)
{
	put_number(message, count);
	put(message, bytes, count);
}

static void put_string(struct message *message, const char *string)
{
	put_bytes(message, string ? string : "", (string ? strlen(string) : 0) + 1);
}

static void put_question(struct message *message, const struct object_query *query,
			 const uint64_t *addresses, size_t count)
{
	size_t dirs = 0;

	while (query->debug_dirs && query->debug_dirs[dirs] && dirs < DEBUG_DIRS_MAX)
		dirs++;
	put_string(message, query->path);
	put_bytes(message, query->build_id, query->build_id_bytes);
	put_number(message, query->file_bytes);
	put_number(message, query->mtime_ns);
	put_number(message, query->pid);
	put_string(message, query->sysroot);
	put_number(message, query->debuginfod);
	put_number(message, query->skip_dwarf);
	put_number(message, query->second_reader);
	put_number(message, query->dwarf_names);
	put_number(message, dirs);
	for (size_t i = 0; i < dirs; i++)
		put_string(message, query->debug_dirs[i]);
	put_bytes(message, addresses, count * sizeof(*addresses));
}

/* The child trusts its parent: lengths are what put_question made. */
static uint64_t get_number(const uint8_t **at)
{
	uint64_t number;

	memcpy(&number, *at, sizeof(number));
	*at += sizeof(number);
	return number;
}

static const void *get_bytes(const uint8_t **at, uint64_t *count)
{
	const void *bytes;

	*count = get_number(at);
	bytes = *at;
	*at += *count;
	return bytes;
}

static const char *get_string(const uint8_t **at)
{
	uint64_t count;

	return get_bytes(at, &count);
}

/* ---- the child ------------------------------------------------------------------- */

static uint64_t own_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;

	if (file) {
		if (fscanf(file, "%llu", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void lower_limit(int resource, uint64_t wanted)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	setrlimit(resource, &limit);
}

/* What the work from now on may take, given what there is to read. */
static void set_limits(uint64_t file_bytes)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	lower_limit(RLIMIT_CPU, (uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec +
					CPU_SECONDS + file_bytes / CPU_BYTES_PER_SECOND);
	lower_limit(RLIMIT_AS, own_memory() + MEMORY_BYTES + file_bytes * MEMORY_PER_BYTE);
}

static bool answer_one(int socket)
{
	struct object_query query = { 0 };
	const char *dirs[DEBUG_DIRS_MAX + 1] = { NULL };
	uint64_t length, count, build_id_bytes;
	const void *raw;
	uint64_t *addresses;
	uint8_t *message;
	const uint8_t *at;
	void *block;
	size_t bytes;

	if (!receive_all(socket, &length, sizeof(length)))
		return false;
	set_limits(length);
	message = reader_realloc(NULL, length);
	if (!receive_all(socket, message, length))
		return false;
	at = message;
	query.path = get_string(&at);
	query.build_id = get_bytes(&at, &build_id_bytes);
	query.build_id_bytes = (unsigned)build_id_bytes;
	query.file_bytes = get_number(&at);
	query.mtime_ns = get_number(&at);
	query.pid = get_number(&at);
	query.sysroot = get_string(&at);
	query.debuginfod = get_number(&at);
	query.skip_dwarf = get_number(&at);
	query.second_reader = get_number(&at);
	query.dwarf_names = get_number(&at);
	count = get_number(&at);
	for (uint64_t i = 0; i < count; i++)
		dirs[i] = get_string(&at);
	query.debug_dirs = dirs;
	raw = get_bytes(&at, &count);
	addresses = reader_realloc(NULL, count);
	memcpy(addresses, raw, count);
	block = module_read(&query, addresses, count / sizeof(*addresses), set_limits, &bytes);
	length = bytes;
	if (!send_all(socket, &length, sizeof(length)) || !send_all(socket, block, bytes))
		return false;
	free(block);
	free(addresses);
	free(message);
	return true;
}

static void run_child(int socket)
{
	struct rlimit no_core = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "memprof-symbols");
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGXCPU, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	while (answer_one(socket))
		;
	_Exit(0);
}

/* ---- the parent --------------------------------------------------------------------- */

struct symbol_reader *symbol_reader_new(void)
{
	return calloc(1, sizeof(struct symbol_reader));
}

static bool start_child(struct symbol_reader *reader)
{
	int sockets[2];

	if (reader->pid)
		return true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return false;
	reader->pid = fork();
	if (reader->pid == 0) {
		close(sockets[0]);
		run_child(sockets[1]);
	}
	close(sockets[1]);
	reader->socket = sockets[0];
	if (reader->pid > 0)
		return true;
	close(sockets[0]);
	reader->pid = 0;
	return false;
}

/* The child is gone, or is told to go: how did it end? */
static enum reader_outcome end_child(struct symbol_reader *reader)
{
	int status = 0;

	/* A child started later has a copy of this socket: closing alone is no end of file. */
	shutdown(reader->socket, SHUT_RDWR);
	close(reader->socket);
	while (waitpid(reader->pid, &status, 0) < 0 && errno == EINTR)
		;
	reader->pid = 0;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGXCPU ? READER_TOOK_TOO_LONG : READER_CRASHED;
	return WEXITSTATUS(status) == READER_NO_MEMORY ? READER_OUT_OF_MEMORY : READER_CRASHED;
}

void symbol_reader_free(struct symbol_reader *reader)
{
	if (reader && reader->pid)
		end_child(reader);
	free(reader);
}

enum reader_outcome symbol_reader_ask(struct symbol_reader *reader,
				      const struct object_query *query, const uint64_t *addresses,
				      size_t count, void **block, size_t *bytes)
{
	struct message message = { 0 };
	uint64_t length;
	bool sent;

	*block = NULL;
	put_question(&message, query, addresses, count);
	if (message.failed || !start_child(reader)) {
		free(message.bytes);
		return READER_NOT_STARTED;
	}
	length = message.used;
	sent = send_all(reader->socket, &length, sizeof(length)) &&
	       send_all(reader->socket, message.bytes, message.used);
	free(message.bytes);
	if (!sent || !receive_all(reader->socket, &length, sizeof(length)))
		return end_child(reader);
	*block = malloc(length);
	if (!*block || !receive_all(reader->socket, *block, length)) {
		free(*block);
		*block = NULL;
		return end_child(reader);
	}
	*bytes = length;
	return READER_ANSWERED;
}
