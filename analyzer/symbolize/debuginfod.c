/*
 * See debuginfod.h. One client for the whole run: it keeps its connection. A
 * server that can't be reached is asked once, not once per module.
 */
#include "symbolize/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The part of elfutils/debuginfod.h that is needed, so that it need not be there
 * to build. */
#define DEBUGINFOD_SONAME "libdebuginfod.so.1"
#define DEBUGINFOD_URLS_ENV_VAR "DEBUGINFOD_URLS"
typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *(*begin_function)(void);
typedef void (*set_progress_function)(debuginfod_client *client,
				      int (*tell)(debuginfod_client *client, long a, long b));
typedef int (*find_function)(debuginfod_client *client, const unsigned char *build_id, int bytes,
			     char **path);

static struct client {
	bool tried;
	debuginfod_client *handle;
	find_function find;
	time_t began;
	unsigned failures;           /* in a row, not "unknown build-id" */
} client;

#define FAILURES_MAX 3

static int tell_progress(debuginfod_client *handle, long done, long all)
{
	(void)handle;
	if (time(NULL) - client.began < 1)
		return 0;
	if (all > 0)
		fprintf(stderr, "\rdebuginfod: %ld of %ld KiB\033[K", done / 1024, all / 1024);
	else
		fprintf(stderr, "\rdebuginfod: asking\033[K");
	return 0;
}

static void connect_client(void)
{
	begin_function begin;
	set_progress_function set_progress;
	void *library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);

	client.tried = true;
	if (!library) {
		fprintf(stderr, "debuginfod: %s is not installed (package libdebuginfod1)\n",
			DEBUGINFOD_SONAME);
		return;
	}
	begin = (begin_function)dlsym(library, "debuginfod_begin");
	set_progress = (set_progress_function)dlsym(library, "debuginfod_set_progressfn");
	client.find = (find_function)dlsym(library, "debuginfod_find_debuginfo");
	if (!begin || !client.find)
		return;
	client.handle = begin();
	if (client.handle && set_progress && isatty(STDERR_FILENO))
		set_progress(client.handle, tell_progress);
}

bool debuginfod_fetch(const uint8_t *build_id, unsigned build_id_bytes, char *path, size_t room)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	char *found = NULL;
	int fd;

	if (!build_id_bytes || !urls || !*urls || client.failures >= FAILURES_MAX)
		return false;
	if (!client.tried)
		connect_client();
	if (!client.handle)
		return false;
	client.began = time(NULL);
	fd = client.find(client.handle, build_id, (int)build_id_bytes, &found);
	if (isatty(STDERR_FILENO) && time(NULL) - client.began >= 1)
		fprintf(stderr, "\r\033[K");
	if (fd < 0) {
		client.failures = fd == -ENOENT ? 0 : client.failures + 1;
		return false;
	}
	client.failures = 0;
	close(fd);
	snprintf(path, room, "%s", found ? found : "");
	free(found);
	return path[0] != 0;
}
