/*
 * A SQLite file. Tables hold what the trace says, views answer the usual
 * questions; the schema below is the documentation and is kept in the file
 * (`.schema`). The file is built in memory and written as it is.
 */
#include "view/export.h"

#include "page/page_names.h"
#include "view/export_values.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of a stack or site; _error: one standard error, 0 when exact. */
#define NUMBERS                                                                                    \
	"live_bytes, live_count, allocated_bytes, allocated_count, freed_bytes, freed_count, "     \
	"peak_bytes, peak_count, temporary_bytes, temporary_count"
#define ERRORS                                                                                     \
	"live_bytes_error, live_count_error, allocated_bytes_error, allocated_count_error, "       \
	"freed_bytes_error, freed_count_error, peak_bytes_error, peak_count_error, "               \
	"temporary_bytes_error, temporary_count_error"

static const char schema[] =
    "PRAGMA application_id = 0x6d70726f;"
    "CREATE TABLE trace (       -- one row a process\n"
    "  id INTEGER PRIMARY KEY, path TEXT, pid INTEGER, ppid INTEGER, exe TEXT, host TEXT,\n"
    "  start_unix_ns INTEGER, duration_ns INTEGER, rate_bytes INTEGER, exact INTEGER,\n"
    "  complete INTEGER, events INTEGER, peak_ns INTEGER);\n"
    "CREATE TABLE frame (       -- a place in the code; an inlined one lies in the frame that "
    "follows\n"
    "  id INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER, module TEXT,\n"
    "  module_offset TEXT, inlined INTEGER);\n"
    "CREATE TABLE node (        -- the call tree: a stack is its innermost node; 0 is the root\n"
    "  id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER REFERENCES frame(id), depth "
    "INTEGER);\n"
    "CREATE TABLE site (        -- call sites: kind is 'malloc' or 'mmap' (not part of the heap)\n"
    "  id INTEGER PRIMARY KEY, kind TEXT, label TEXT, frame INTEGER REFERENCES frame(id),\n"
    "  " NUMBERS ",\n  " ERRORS ");\n"
    "CREATE TABLE stack (       -- stacks add up to their site; sizes are requested bytes\n"
    "  id INTEGER PRIMARY KEY, site INTEGER REFERENCES site(id), node INTEGER REFERENCES "
    "node(id),\n"
    "  trace INTEGER REFERENCES trace(id), " NUMBERS ",\n  " ERRORS ");\n"
    "CREATE TABLE mark (trace INTEGER, time_ns INTEGER, kind TEXT, name TEXT, detail TEXT, value "
    "INTEGER);\n"
    "CREATE TABLE thread (trace INTEGER, tid INTEGER, name TEXT, first_ns INTEGER, last_ns "
    "INTEGER,\n"
    "  allocations INTEGER, frees INTEGER);\n"
    "CREATE TABLE reading (trace INTEGER, time_ns INTEGER, resident INTEGER, shared INTEGER,\n"
    "  virtual INTEGER, mapped INTEGER);\n"
    "CREATE TABLE module (trace INTEGER, path TEXT, build_id TEXT, start INTEGER, \"end\" "
    "INTEGER);\n"
    "CREATE VIEW top_sites AS   -- the heap's call sites, most allocated first\n"
    "  SELECT s.id, f.function, f.file, f.line, f.module, s.live_bytes, s.live_count,\n"
    "    s.allocated_bytes, s.allocated_count, s.peak_bytes, s.temporary_count\n"
    "  FROM site s JOIN frame f ON f.id = s.frame WHERE s.kind = 'malloc'\n"
    "  ORDER BY s.allocated_bytes DESC;\n"
    "CREATE VIEW leaks AS       -- what was not freed, most first\n"
    "  SELECT s.id, f.function, f.file, f.line, f.module, s.live_bytes, s.live_count\n"
    "  FROM site s JOIN frame f ON f.id = s.frame WHERE s.kind = 'malloc' AND s.live_count > 0\n"
    "  ORDER BY s.live_bytes DESC;\n"
    "CREATE VIEW by_module AS   -- the heap by module of the call site\n"
    "  SELECT f.module, sum(s.live_bytes) AS live_bytes, sum(s.live_count) AS live_count,\n"
    "    sum(s.allocated_bytes) AS allocated_bytes, sum(s.allocated_count) AS allocated_count,\n"
    "    sum(s.peak_bytes) AS peak_bytes\n"
    "  FROM site s JOIN frame f ON f.id = s.frame WHERE s.kind = 'malloc' GROUP BY f.module\n"
    "  ORDER BY live_bytes DESC;\n"
    "CREATE VIEW stack_frames AS -- a row a frame of each stack; level 0 is the innermost\n"
    "  WITH RECURSIVE walk(stack, level, node) AS (\n"
    "    SELECT id, 0, node FROM stack UNION ALL\n"
    "    SELECT walk.stack, level + 1, node.parent FROM walk JOIN node ON node.id = walk.node\n"
    "    WHERE node.parent > 0)\n"
    "  SELECT walk.stack, level, f.function, f.file, f.line, f.module, f.inlined\n"
    "  FROM walk JOIN node ON node.id = walk.node JOIN frame f ON f.id = node.frame;\n"
    "CREATE VIEW inclusive AS   -- each function with all that it calls; recursion counts once\n"
    "  SELECT f.function, sum(s.live_bytes) AS live_bytes, sum(s.allocated_bytes) AS "
    "allocated_bytes,\n"
    "    sum(s.allocated_count) AS allocated_count\n"
    "  FROM (SELECT DISTINCT stack, function FROM stack_frames) f JOIN stack s ON s.id = f.stack\n"
    "    JOIN site ON site.id = s.site AND site.kind = 'malloc'\n"
    "  GROUP BY f.function ORDER BY 2 DESC;\n";

struct database {
	sqlite3 *db;
	sqlite3_stmt *statement;
	int column;
	int state; /* the first thing that went wrong */
	struct page_names names;
};

/* ---- rows ---- */

static void check(struct database *db, int state)
{
	if (state != SQLITE_OK && state != SQLITE_DONE && state != SQLITE_ROW &&
	    db->state == SQLITE_OK)
		db->state = state;
}

static void execute(struct database *db, const char *sql)
{
	check(db, sqlite3_exec(db->db, sql, NULL, NULL, NULL));
}

static void begin(struct database *db, const char *table, int columns)
{
	char sql[512];
	int used = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", table);

	for (int i = 1; i < columns; i++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used, ",?");
	snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
	check(db, sqlite3_prepare_v2(db->db, sql, -1, &db->statement, NULL));
	db->column = 0;
}

static void integer(struct database *db, uint64_t value)
{
	sqlite3_bind_int64(db->statement, ++db->column, (sqlite3_int64)value);
}

/* A text that isn't there, or is empty, is NULL. */
static void text(struct database *db, const char *value)
{
	if (value && *value)
		sqlite3_bind_text(db->statement, ++db->column, value, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(db->statement, ++db->column);
}

static void number(struct database *db, double value)
{
	if (value == (double)(int64_t)value)
		integer(db, (uint64_t)(int64_t)value);
	else
		sqlite3_bind_double(db->statement, ++db->column, value);
}

static void numbers(struct database *db, const struct tally *tally)
{
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		number(db, export_value(tally, v));
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		number(db, export_error(tally, v));
}

static void row(struct database *db)
{
	check(db, sqlite3_step(db->statement));
	sqlite3_reset(db->statement);
	db->column = 0;
}

static void end(struct database *db)
{
	sqlite3_finalize(db->statement);
	db->statement = NULL;
}

/* ---- tables ---- */

static void add_traces(struct database *db, const struct profile *profile)
{
	begin(db, "trace", 13);
	for (size_t i = 0; i < profile->trace_count; i++) {
		const struct trace *trace = profile->traces[i].trace;

		integer(db, i);
		text(db, trace->path);
		integer(db, trace->info.pid);
		integer(db, trace->info.ppid);
		text(db, trace->info.exe);
		text(db, trace->info.host);
		integer(db, trace->info.start_unix_ns);
		integer(db, trace->info.duration_ns);
		integer(db, trace->info.rate_bytes);
		integer(db, trace->info.exact);
		integer(db, trace->info.complete);
		integer(db, trace->info.events);
		integer(db, profile->traces[i].totals.peak_ns);
		row(db);
	}
	end(db);
}

static void add_sites(struct database *db, const struct profile *profile)
{
	begin(db, "site", 4 + 2 * EXPORT_VALUES);
	for (size_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		integer(db, i);
		text(db, site->kind == TALLY_HEAP ? "malloc" : "mmap");
		text(db, site->label);
		integer(db, page_frame(&db->names, &site->where));
		numbers(db, &site->tally);
		row(db);
	}
	end(db);
}

static void add_stacks(struct database *db, struct profile *profile)
{
	uint64_t id = 0;

	begin(db, "stack", 4 + 2 * EXPORT_VALUES);
	for (size_t i = 0; i < profile->site_count; i++) {
		for (size_t s = 0; s < profile->sites[i].stack_count; s++) {
			const struct profile_stack *stack = &profile->sites[i].stacks[s];
			const struct profile_frame *frames;
			size_t count = profile_frames(profile, stack, &frames);

			integer(db, id++);
			integer(db, i);
			integer(db, page_path(&db->names, frames, count));
			integer(db, stack->member);
			numbers(db, &stack->tally);
			row(db);
		}
	}
	end(db);
}

static void add_names(struct database *db)
{
	const struct page_names *names = &db->names;
	uint32_t *depths = calloc(names->node_count + 1, sizeof(*depths));

	begin(db, "frame", 7);
	for (size_t i = 0; i < names->frame_count; i++) {
		const struct page_frame *frame = &names->frames[i];

		integer(db, i);
		text(db, names->strings[frame->function]);
		text(db, names->strings[frame->file]);
		integer(db, frame->line);
		text(db, names->strings[frame->module]);
		text(db, names->strings[frame->offset]);
		integer(db, frame->is_inlined);
		row(db);
	}
	end(db);
	begin(db, "node", 4);
	for (size_t i = 1; depths && i < names->node_count; i++) {
		depths[i] = depths[names->nodes[i].parent] + 1;
		integer(db, i);
		integer(db, names->nodes[i].parent);
		integer(db, names->nodes[i].frame);
		integer(db, depths[i]);
		row(db);
	}
	end(db);
	free(depths);
}

static void add_marks(struct database *db, size_t id, const struct trace *trace)
{
	static const char *const kinds[] = {
	    [TRACE_MARK_SNAPSHOT] = "snapshot", [TRACE_MARK_EVENT] = "event",
	    [TRACE_MARK_RESET] = "reset",       [TRACE_MARK_START] = "start",
	    [TRACE_MARK_STOP] = "stop",         [TRACE_MARK_RATE] = "rate",
	};

	begin(db, "mark", 6);
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		integer(db, id);
		integer(db, mark->time_ns);
		text(db, mark->kind < sizeof(kinds) / sizeof(*kinds) ? kinds[mark->kind] : NULL);
		text(db, mark->name);
		text(db, mark->detail);
		integer(db, mark->value);
		row(db);
	}
	end(db);
}

static void add_threads(struct database *db, size_t id, const struct trace *trace)
{
	begin(db, "thread", 7);
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct trace_thread *thread = &trace->threads[i];

		integer(db, id);
		integer(db, thread->tid);
		text(db, thread->name);
		integer(db, thread->first_ns);
		integer(db, thread->last_ns);
		integer(db, thread->allocations);
		integer(db, thread->frees);
		row(db);
	}
	end(db);
}

static void add_readings(struct database *db, size_t id, const struct trace *trace)
{
	begin(db, "reading", 6);
	for (size_t i = 0; i < trace->reading_count; i++) {
		const struct trace_reading *reading = &trace->readings[i];

		integer(db, id);
		integer(db, reading->time_ns);
		integer(db, reading->resident);
		integer(db, reading->shared);
		integer(db, reading->virtual_bytes);
		integer(db, reading->mapped);
		row(db);
	}
	end(db);
}

static void add_modules(struct database *db, size_t id, const struct trace *trace)
{
	begin(db, "module", 5);
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct trace_module *module = &trace->modules[i];
		char hex[2 * sizeof(module->build_id) + 1] = "";

		for (unsigned b = 0; b < module->build_id_bytes && b < sizeof(module->build_id);
		     b++)
			snprintf(hex + 2 * b, 3, "%02x", module->build_id[b]);
		integer(db, id);
		text(db, module->path);
		text(db, hex);
		integer(db, module->start);
		integer(db, module->end);
		row(db);
	}
	end(db);
}

static void fill(struct database *db, struct profile *profile)
{
	execute(db, schema);
	execute(db, "BEGIN");
	add_traces(db, profile);
	add_sites(db, profile);
	add_stacks(db, profile);
	add_names(db);
	for (size_t i = 0; i < profile->trace_count; i++) {
		const struct trace *trace = profile->traces[i].trace;

		add_marks(db, i, trace);
		add_threads(db, i, trace);
		add_readings(db, i, trace);
		add_modules(db, i, trace);
	}
	execute(db, "CREATE INDEX stack_site ON stack(site)");
	execute(db, "COMMIT");
}

int export_sqlite(struct export_job *job, struct error *err)
{
	struct database db = {.state = SQLITE_OK};
	sqlite3_int64 size = 0;
	unsigned char *bytes = NULL;
	int status = 0;

	page_names_init(&db.names);
	check(&db, sqlite3_open(":memory:", &db.db));
	if (db.state == SQLITE_OK)
		fill(&db, job->profile);
	if (db.state == SQLITE_OK)
		bytes = sqlite3_serialize(db.db, "main", &size, 0);
	if (bytes)
		fwrite(bytes, 1, (size_t)size, job->out);
	else
		status = error_set(err, ERROR_SYSTEM, NULL, ERROR_NO_OFFSET, "SQLite: %s",
				   sqlite3_errstr(db.state ? db.state : SQLITE_NOMEM));
	sqlite3_free(bytes);
	sqlite3_close(db.db);
	page_names_release(&db.names);
	return status;
}
