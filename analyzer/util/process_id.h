/*
 * Which process a companion file belongs to. A process is told by its pid, as it
 * sees itself, and its start time; a pid namespace (a container) gives it another
 * pid here, so where /proc/PID is somebody else all processes are looked at.
 */
#ifndef ANALYZER_UTIL_PROCESS_ID_H
#define ANALYZER_UTIL_PROCESS_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Clock ticks since boot, field 22 of /proc/PID/stat; 0 = there is no such process. */
uint64_t process_id_start_time(pid_t pid);

/* The pid that process @pid has in its own, innermost namespace. */
uint64_t process_id_own(pid_t pid);

/* Does a process live that sees itself as @own_pid and started at @start_time? */
bool process_id_lives(uint64_t own_pid, uint64_t start_time);

#endif
