/*
 * Looks at a process tree from outside while it runs: takes snapshots by rule,
 * reads its mappings into the traces, and shows one line of progress. Nothing
 * here needs the processes' cooperation, or slows them beyond what the readings
 * cost: those are as far apart as a thousand times their own duration.
 */
#ifndef ANALYZER_CMD_WATCH_H
#define ANALYZER_CMD_WATCH_H

#include "util/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct watch;

/* @shows_progress: a line on stderr, renewed every second. */
struct watch *watch_new(bool shows_progress);
void watch_free(struct watch *watch);

/* Adds a rule: every=10s, growth=40%, rss>2G, cgroup>90%. */
int watch_add_rule(struct watch *watch, const char *text, struct error *err);
extern const char watch_rules_words[]; /* for the help */

/* Waits until @pid has ended, looking at it and its descendants meanwhile.
 * Returns as waitpid does; *@status is its wait status. */
pid_t watch_wait(struct watch *watch, pid_t pid, int *status);

#endif
