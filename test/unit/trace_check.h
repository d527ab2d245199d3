/*
 * A reader of its own for the tests of the library's output side: it knows the
 * format from trace_format.h and control.h alone, and only what these tests
 * need: units, checksums, lanes, and FREE records whose addresses count up.
 */
#ifndef TEST_TRACE_CHECK_H
#define TEST_TRACE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#define CHECK_LANES 64

struct trace_check {
	unsigned pieces;      /* in the file, with a right checksum */
	unsigned damaged;     /* with a wrong one */
	unsigned slots;       /* of the companion that counted */
	uint64_t events;      /* FREE records */
	uint64_t lost;        /* by the headers of the lanes */
	uint64_t lost_told;   /* by LOST records */
	uint64_t last[CHECK_LANES]; /* number of the lane's last event */
	bool is_in_order;     /* each lane counts 1, 2, 3 ... without a gap */
	bool is_forked;
	unsigned end;         /* enum trace_end, 0: none */
	unsigned clocks, readings, modules;
	char parent[512];
	char companion[512];  /* META */
};

/* Reads the trace at @path with its companion. Ends the test when it can't. */
void trace_check_read(struct trace_check *check, const char *path);

#endif
