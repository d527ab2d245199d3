/*
 * A server in miniature that leaks 48 bytes per request, hidden among much
 * churn: what memprof is for. README.md goes from here to the line that leaks.
 *
 *	leaky-server [REQUESTS]
 *
 * It takes a snapshot when it is warm and one at the end, so that
 *	memprof-diff TRACE@warm TRACE@late
 * shows what stayed.
 */
#include "memprof/memprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS 512
#define WARM 0.2 /* of all requests */

struct request {
	char *path;
	char *headers[8];
	char *body;
};

struct session {
	char *user;
	unsigned hits;
	struct audit_entry *audit;
};

/* Who asked for what: 48 bytes. Kept for a report that nobody calls for. */
struct audit_entry {
	struct audit_entry *next;
	unsigned long number;
	char path[32];
};

static struct session *sessions[SESSIONS];
static unsigned long served_bytes;

static char *copy_text(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(malloc(bytes), text, bytes);
}

static struct request *request_parse(unsigned long number)
{
	struct request *request = calloc(1, sizeof(*request));
	char text[96];

	snprintf(text, sizeof(text), "/item/%lu", number % 997);
	request->path = copy_text(text);
	for (int i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "X-Header-%d: value %lu", i, number * 31 % 1009);
		request->headers[i] = copy_text(text);
	}
	request->body = malloc(64 + number % 4000);
	return request;
}

static void request_free(struct request *request)
{
	for (int i = 0; i < 8; i++)
		free(request->headers[i]);
	free(request->body);
	free(request->path);
	free(request);
}

static struct session *session_find(unsigned long number)
{
	struct session **place = &sessions[number * 7919 % SESSIONS];
	char name[32];

	if (!*place) {
		snprintf(name, sizeof(name), "user%lu", number * 7919 % SESSIONS);
		*place = calloc(1, sizeof(**place));
		(*place)->user = copy_text(name);
	}
	return *place;
}

static void audit_remember(struct session *session, const struct request *request,
			   unsigned long number)
{
	struct audit_entry *entry = malloc(sizeof(*entry)); /* here it leaks */

	entry->number = number;
	snprintf(entry->path, sizeof(entry->path), "%s", request->path);
	entry->next = session->audit;
	session->audit = entry;
}

static void reply(const struct session *session, const struct request *request)
{
	size_t room = 256;
	char *page = malloc(room);
	size_t used = (size_t)snprintf(page, room, "Hello %s, %s\n", session->user, request->path);

	for (int i = 0; i < 8; i++) {
		size_t more = strlen(request->headers[i]) + 2;

		if (used + more > room)
			page = realloc(page, room *= 2);
		used += (size_t)snprintf(page + used, room - used, "%s\n", request->headers[i]);
	}
	served_bytes += used;
	free(page);
}

static void serve(unsigned long number)
{
	struct request *request = request_parse(number);
	struct session *session = session_find(number);

	session->hits++;
	audit_remember(session, request, number);
	reply(session, request);
	request_free(request);
}

int main(int argc, char **argv)
{
	unsigned long requests = argc > 1 ? strtoul(argv[1], NULL, 10) : 50000;

	for (unsigned long number = 0; number < requests; number++) {
		if (number == (unsigned long)((double)requests * WARM))
			memprof_snapshot("warm");
		serve(number);
	}
	memprof_snapshot("late");
	printf("served %lu requests, %lu bytes\n", requests, served_bytes);
	return 0;
}
