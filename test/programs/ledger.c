/* FLAGS: -fno-optimize-sibling-calls */
/*
 * A program whose every allocation is known: what test/integration/views expects
 * stands in its constants.
 */
#include <memprof/memprof.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SITE __attribute__((noinline, noclone))

static void *volatile sink;

SITE static void *lose_entry(void)
{
	void *p = malloc(48);

	sink = p;
	return p;
}

SITE static void short_lived(size_t bytes)
{
	void *p = malloc(bytes);

	sink = p;
	free(p);
}

SITE static char *duplicate(const char *text)
{
	return strdup(text);
}

SITE static void *map_pages(void)
{
	return mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

SITE static char *grow_line(char *line, size_t bytes)
{
	return realloc(line, bytes);
}

static void *worker(void *argument)
{
	memprof_scope_begin("job");
	for (int i = 0; i < 100; i++)
		short_lived(200);
	memprof_scope_end();
	return argument;
}

static void pause_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

int main(void)
{
	char *names[50], *line = NULL;
	void *pages = map_pages();
	pthread_t thread;

	for (int i = 0; i < 50; i++)
		names[i] = duplicate("fifteen letters");      /* 50 blocks of 16 bytes */
	for (int i = 0; i < 100; i++)
		lose_entry();                                 /* 100 of 48 bytes */
	memprof_snapshot("early");
	pause_ms(20);
	for (int i = 0; i < 1000; i++)
		short_lived(100);
	for (size_t bytes = 16; bytes <= 4096; bytes *= 2)
		line = grow_line(line, bytes);                /* 9 calls, 8176 bytes */
	for (int i = 0; i < 300; i++)
		lose_entry();
	memprof_snapshot("late");
	memprof_event("note", "half way");
	pause_ms(20);
	if (pthread_create(&thread, NULL, worker, NULL) == 0)
		pthread_join(thread, NULL);
	free(line);
	for (int i = 0; i < 50; i++)
		free(names[i]);
	munmap(pages, 1 << 20);
	return 0;
}
