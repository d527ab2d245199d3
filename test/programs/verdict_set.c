/*
 * Programs in miniature whose sites, and which as a whole, have a known verdict:
 *
 *	verdict_set NAME        runs one and says what is right: "expect FUNCTION LABEL",
 *	                        "expect program LABEL"; another word is right as well
 *	verdict_set             the names
 *
 * A run is TICKS steps, each followed by a pause, so that time and calls move on
 * evenly. All is deterministic but the clock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICKS 200
#ifdef __clang__
#define SITE __attribute__((noinline))
#else
#define SITE __attribute__((noinline, noipa)) /* functions that are alike stay apart */
#endif

static uint64_t seed = 1;

static unsigned random_below(unsigned below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((seed >> 33) % below);
}

static void tick_end(void)
{
	nanosleep(&(struct timespec){ 0, 4000000 }, NULL);
}

static void *filled(void *block, size_t bytes)
{
	if (!block)
		abort();
	return memset(block, 1, bytes);
}

static void expect(const char *what, const char *labels)
{
	printf("expect %s %s\n", what, labels);
}

/* ---- a table of names: new ones come all the time, but ever fewer ---- */

SITE static void *intern_name(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

SITE static void *read_line(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

static void interning(void)
{
	static void *names[4000];

	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 400; i++) {
			void *line = read_line(200);
			unsigned name = random_below(4000);

			if (!names[name])
				names[name] = intern_name(100 + name % 100);
			free(line);
		}
		tick_end();
	}
	expect("intern_name", "plateau");
	expect("read_line", "churn");
	expect("program", "plateau");
}

/* ---- a leak that comes in bursts, eight of them ---- */

SITE static void *forget_in_burst(void)
{
	return filled(malloc(300), 300);
}

SITE static void *frame_buffer(void)
{
	return filled(malloc(4096), 4096);
}

static void bursts(void)
{
	for (int t = 0; t < TICKS; t++) {
		void *frames[8];

		for (int i = 0; i < 8; i++)
			frames[i] = frame_buffer();
		if (t % (TICKS / 8) == TICKS / 16)
			for (int i = 0; i < 400; i++)
				forget_in_burst();
		for (int i = 0; i < 8; i++)
			free(frames[i]);
		tick_end();
	}
	expect("forget_in_burst", "leak suspect");
	expect("frame_buffer", "churn");
	expect("program", "retention");
}

/* ---- a queue whose reader falls behind and catches up, again and again ---- */

SITE static void *enqueue(void)
{
	return filled(malloc(512), 512);
}

static void backlog(void)
{
	static void *queue[4000];
	int count = 0;

	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 100; i++)
			queue[count++] = enqueue();
		if (t % 20 == 19)
			while (count)
				free(queue[--count]);
		tick_end();
	}
	expect("enqueue", "plateau churn");
	expect("program", "plateau churn");
}

/* ---- the parent is freed, the child forgotten ---- */

SITE static void **new_parent(void)
{
	return filled(malloc(64), 64);
}

SITE static void *new_child(void)
{
	return filled(malloc(160), 160);
}

static void orphans(void)
{
	static void **parents[500];

	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 40; i++) {
			unsigned at = random_below(500);

			free(parents[at]);
			parents[at] = new_parent();
			parents[at][0] = new_child();
		}
		tick_end();
	}
	expect("new_parent", "plateau churn");
	expect("new_child", "leak suspect");
	expect("program", "retention");
}

/* ---- a leak that begins in the middle of the run ---- */

SITE static void *session_state(void)
{
	return filled(malloc(700), 700);
}

SITE static void *catalogue(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

static void late_leak(void)
{
	for (int i = 0; i < 100; i++)
		catalogue(1000);
	for (int t = 0; t < TICKS; t++) {
		if (t > TICKS * 4 / 10)
			for (int i = 0; i < 10; i++)
				session_state();
		tick_end();
	}
	expect("session_state", "leak suspect");
	expect("catalogue", "one-time");
	expect("program", "retention");
}

/* ---- a configuration that is read anew: the new one before the old one goes ---- */

SITE static void *config_entry(void)
{
	return filled(malloc(220), 220);
}

static void reload(void)
{
	static void *entries[2][600];

	for (int t = 0; t < TICKS; t++) {
		if (t % 10 == 0) {
			int which = t / 10 % 2;

			for (int i = 0; i < 600; i++)
				entries[which][i] = config_entry();
			for (int i = 0; i < 600; i++) {
				free(entries[!which][i]);
				entries[!which][i] = NULL;
			}
		}
		tick_end();
	}
	expect("config_entry", "plateau churn");
	expect("program", "plateau");
}

/* ---- a table that doubles, and a list; an exit handler frees both ---- */

static void *nodes[TICKS * 20], *table;
static int node_count;

SITE static void *grow_table(void *table, size_t bytes)
{
	table = realloc(table, bytes);
	__asm__ volatile("" : "+r"(table)); /* no tail call */
	return table;
}

SITE static void *history_node(void)
{
	return filled(malloc(128), 128);
}

static void free_tables(void)
{
	for (int i = 0; i < node_count; i++)
		free(nodes[i]);
	free(table);
}

static void tables(void)
{
	size_t room = 256;

	atexit(free_tables);
	table = grow_table(NULL, room);
	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 20; i++)
			nodes[node_count++] = history_node();
		if ((size_t)node_count * sizeof(void *) * 11 > room)
			table = grow_table(table, room *= 2);
		tick_end();
	}
	expect("history_node", "growing");
	expect("grow_table", "growing");
	expect("program", "growth");
}

/* ---- spikes of constant height; the run ends within one ---- */

SITE static void *scratch(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

static void spikes(void)
{
	static void *parts[64];

	for (int t = 0; t < TICKS; t++) {
		int is_up = t % 25 >= 20;

		for (int i = 0; i < 64; i++) {
			if (is_up && !parts[i])
				parts[i] = scratch(16384);
			else if (!is_up) {
				free(parts[i]);
				parts[i] = NULL;
			}
		}
		tick_end();
	}
	expect("scratch", "plateau");
	expect("program", "plateau");
}

/* ---- what one thread makes another frees, but for one in fifty ---- */

static void *mailbox[100];

SITE static void *letter(void)
{
	return filled(malloc(900), 900);
}

static void *postman(void *unused)
{
	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 100; i++)
			free(__atomic_exchange_n(&mailbox[i], NULL, __ATOMIC_ACQ_REL));
		tick_end();
	}
	return unused;
}

static void letters(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, postman, NULL);
	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 100; i++) {
			void *block = letter();

			/* One that is not put anywhere is lost. */
			if (i % 50)
				free(__atomic_exchange_n(&mailbox[i], block, __ATOMIC_ACQ_REL));
		}
		tick_end();
	}
	pthread_join(thread, NULL);
	expect("letter", "leak suspect");
	expect("program", "retention");
}

/* ---- nothing but short lives, of sizes that drift upwards ---- */

SITE static void *message(size_t bytes)
{
	return filled(malloc(bytes), bytes);
}

static void drift(void)
{
	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 500; i++)
			free(message(1000 + (size_t)t));
		tick_end();
	}
	expect("message", "churn");
	expect("program", "churn");
}

/* ---- a cache that is trimmed by half now and then, but grows all the same ---- */

SITE static void *cache_item(void)
{
	return filled(malloc(350), 350);
}

static void trimmed(void)
{
	static void *items[TICKS * 40];
	int count = 0;

	for (int t = 0; t < TICKS; t++) {
		for (int i = 0; i < 40; i++)
			items[count++] = cache_item();
		/* The oldest fifth goes, every eighth of the run. */
		if (t % (TICKS / 8) == TICKS / 8 - 1) {
			int gone = count / 5;

			for (int i = 0; i < gone; i++)
				free(items[i]);
			memmove(items, items + gone, (size_t)(count - gone) * sizeof(*items));
			count -= gone;
		}
		tick_end();
	}
	expect("cache_item", "growing");
	expect("program", "growth");
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "interning", interning }, { "bursts", bursts }, { "backlog", backlog },
	{ "orphans", orphans }, { "late_leak", late_leak }, { "reload", reload },
	{ "tables", tables }, { "spikes", spikes }, { "letters", letters }, { "drift", drift },
	{ "trimmed", trimmed },
};

int main(int argc, char **argv)
{
	static char buffer[BUFSIZ];

	/* What stdio allocates at the end would be the largest block of some. */
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		if (argc < 2)
			puts(programs[i].name);
		else if (!strcmp(argv[1], programs[i].name))
			programs[i].run();
	}
	return 0;
}
