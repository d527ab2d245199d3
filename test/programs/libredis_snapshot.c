/*
 * A module for redis-server: SNAPSHOT NAME, answered with the nanoseconds that
 * memprof_snapshot took. redis can't take part in its own profile, but loads
 * modules. What of redismodule.h is needed is declared here.
 */
#include <time.h>

#include "memprof/memprof.h"

enum { MODULE_OK = 0, MODULE_ERROR = 1, MODULE_API_VERSION = 1 };

typedef int command(void *context, void **words, int count);

static int (*create_command)(void *context, const char *name, command *run, const char *flags,
			     int first_key, int last_key, int key_step);
static void (*set_attributes)(void *context, const char *name, int version, int api_version);
static const char *(*string_text)(const void *string, size_t *bytes);
static int (*reply_with_number)(void *context, long long number);
static int (*wrong_arity)(void *context);

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int take_snapshot(void *context, void **words, int count)
{
	long long before;

	if (count != 2)
		return wrong_arity(context);
	before = now_ns();
	memprof_snapshot(string_text(words[1], NULL));
	return reply_with_number(context, now_ns() - before);
}

int RedisModule_OnLoad(void *context, void **words, int count);
int RedisModule_OnLoad(void *context, void **words, int count)
{
	/* A context begins with the function that tells all others. */
	int (*find)(const char *name, void *function) = *(int (**)(const char *, void *))context;
	struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "RedisModule_CreateCommand", &create_command },
		{ "RedisModule_SetModuleAttribs", &set_attributes },
		{ "RedisModule_StringPtrLen", &string_text },
		{ "RedisModule_ReplyWithLongLong", &reply_with_number },
		{ "RedisModule_WrongArity", &wrong_arity },
	};

	(void)words;
	(void)count;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (find(wanted[i].name, wanted[i].function) != MODULE_OK)
			return MODULE_ERROR;
	set_attributes(context, "snapshot", 1, MODULE_API_VERSION);
	return create_command(context, "snapshot", take_snapshot, "fast", 0, 0, 0);
}
