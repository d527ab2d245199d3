/*
 * The payload's plain tables: marks, sizes, lifetimes, threads, modules,
 * processes.
 */
#include "page/page_writer.h"

#include "util/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_MOST 400
#define MARKS_MOST 4000
#define THREADS_MOST 1000

/* ---- marks ---- */

struct page_mark {
	uint64_t us;
	const char *kind, *name, *detail;
	uint64_t value;
};

struct mark_list {
	struct page_mark *marks;
	size_t count;
};

static const char *const mark_kinds[] = {
    [TRACE_MARK_SNAPSHOT] = "snapshot", [TRACE_MARK_EVENT] = "event", [TRACE_MARK_RESET] = "reset",
    [TRACE_MARK_START] = "start",       [TRACE_MARK_STOP] = "stop",   [TRACE_MARK_RATE] = "rate",
};

static void mark_add(struct mark_list *list, uint64_t ns, const char *kind, const char *name,
		     const char *detail, uint64_t value)
{
	if (list->count >= MARKS_MOST)
		return;
	MEMORY_ROOM(list->marks, list->count);
	list->marks[list->count++] = (struct page_mark){micros(ns), kind, name, detail, value};
}

static void marks_of_trace(struct mark_list *list, const struct trace *trace, uint64_t shift_ns)
{
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		if (mark->kind < sizeof(mark_kinds) / sizeof(*mark_kinds) && mark_kinds[mark->kind])
			mark_add(list, shift_ns + mark->time_ns, mark_kinds[mark->kind], mark->name,
				 mark->detail, mark->value);
	}
	for (size_t i = 1; i < trace->thread_count; i++)
		mark_add(list, shift_ns + trace->threads[i].first_ns, "thread",
			 trace->threads[i].name, "", trace->threads[i].tid);
	for (size_t i = 0; i < trace->module_count; i++)
		if (trace->modules[i].first_ns > 0)
			mark_add(list, shift_ns + trace->modules[i].first_ns, "module",
				 trace->modules[i].path, "", 0);
}

/* A process that another one of the set started: by fork, or by fork and exec. */
static void mark_birth(struct page_writer *w, struct mark_list *list, size_t member)
{
	const struct trace_info *info = &w->part->set->members[member].trace->info;
	char name[512], detail[64];

	for (size_t m = 0; m < w->part->set->count; m++) {
		if (w->part->set->members[m].trace->info.pid != info->ppid)
			continue;
		snprintf(name, sizeof(name), "%s %" PRIu64, path_base(info->exe), info->pid);
		snprintf(detail, sizeof(detail), "by %" PRIu64, info->ppid);
		mark_add(list, w->part->facts[member]->shift_ns, info->forked ? "fork" : "process",
			 strings_intern(&w->names.pool, name),
			 strings_intern(&w->names.pool, detail), info->pid);
		return;
	}
}

/* Equal times in a fixed order, so that the same trace gives the same page. */
static int compare_marks(const void *a, const void *b)
{
	const struct page_mark *x = a, *y = b;
	int order;

	if (x->us != y->us)
		return x->us < y->us ? -1 : 1;
	order = strcmp(x->kind, y->kind);
	if (order)
		return order;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void write_marks(struct page_writer *w)
{
	struct mark_list list = {0};

	for (size_t m = 0; m < w->part->set->count; m++) {
		marks_of_trace(&list, w->part->set->members[m].trace, w->part->facts[m]->shift_ns);
		mark_birth(w, &list, m);
	}
	if (list.count)
		qsort(list.marks, list.count, sizeof(*list.marks), compare_marks);
	json_object_begin(w->json, "marks");
	column_begin(w, "t");
	for (size_t i = 0; i < list.count; i++)
		json_unsigned(w->json, NULL, list.marks[i].us);
	column_end(w);
	column_begin(w, "kind");
	for (size_t i = 0; i < list.count; i++)
		json_string(w->json, NULL, list.marks[i].kind);
	column_end(w);
	column_begin(w, "name");
	for (size_t i = 0; i < list.count; i++)
		json_string(w->json, NULL, list.marks[i].name ? list.marks[i].name : "");
	column_end(w);
	column_begin(w, "detail");
	for (size_t i = 0; i < list.count; i++)
		json_string(w->json, NULL, list.marks[i].detail ? list.marks[i].detail : "");
	column_end(w);
	column_begin(w, "value");
	for (size_t i = 0; i < list.count; i++)
		json_unsigned(w->json, NULL, list.marks[i].value);
	column_end(w);
	json_object_end(w->json);
	free(list.marks);
}

/* ---- sizes, lifetimes, threads, modules, processes ---- */

#define FACT_COLUMN(w, name, rows, field)                                                          \
	do {                                                                                       \
		column_begin(w, name);                                                             \
		for (size_t i = 0; i < (rows); i++) {                                              \
			double sum = 0;                                                            \
			for (size_t m = 0; m < (w)->part->set->count; m++)                         \
				sum += (w)->part->facts[m]->field;                                 \
			json_double((w)->json, NULL, round(sum));                                  \
		}                                                                                  \
		column_end(w);                                                                     \
	} while (0)

/* Classes in which nothing ever was are left out at both ends by the page. */
static void write_sizes(struct page_writer *w)
{
	json_object_begin(w->json, "sizes");
	column_begin(w, "from");
	for (unsigned i = 0; i < SIZE_CLASSES; i++)
		json_unsigned(w->json, NULL, i ? size_class_limits[i - 1] + 1 : 0);
	column_end(w);
	column_begin(w, "to");
	for (unsigned i = 0; i < SIZE_CLASSES; i++)
		json_unsigned(w->json, NULL, size_class_limits[i]);
	column_end(w);
	FACT_COLUMN(w, "allocated_count", SIZE_CLASSES, sizes.classes[i].made.count);
	FACT_COLUMN(w, "allocated_bytes", SIZE_CLASSES, sizes.classes[i].made.bytes);
	FACT_COLUMN(w, "live_count", SIZE_CLASSES, sizes.classes[i].live.count);
	FACT_COLUMN(w, "live_bytes", SIZE_CLASSES, sizes.classes[i].live.bytes);
	json_object_end(w->json);
}

static void write_lifetimes(struct page_writer *w)
{
	json_object_begin(w->json, "lifetimes");
	column_begin(w, "from");
	for (unsigned i = 0; i < AGE_CLASSES; i++)
		json_unsigned(w->json, NULL, i ? micros(age_class_limits_ns[i - 1]) : 0);
	column_end(w);
	column_begin(w, "to"); /* the last has no end: -1 */
	for (unsigned i = 0; i < AGE_CLASSES; i++)
		json_double(w->json, NULL,
			    i + 1 == AGE_CLASSES ? -1 : (double)micros(age_class_limits_ns[i]));
	column_end(w);
	FACT_COLUMN(w, "count", AGE_CLASSES, lifetimes.freed[i].count);
	FACT_COLUMN(w, "bytes", AGE_CLASSES, lifetimes.freed[i].bytes);
	FACT_COLUMN(w, "live_count", AGE_CLASSES, lifetimes.living[i].count);
	FACT_COLUMN(w, "live_bytes", AGE_CLASSES, lifetimes.living[i].bytes);
	json_object_end(w->json);
}

struct thread_row {
	const struct trace_thread *thread;
	struct page_thread numbers;
	uint64_t shift_ns;
};

static int compare_threads(const void *a, const void *b)
{
	const struct thread_row *x = a, *y = b;

	if (x->numbers.made_count != y->numbers.made_count)
		return x->numbers.made_count > y->numbers.made_count ? -1 : 1;
	return x->thread->tid < y->thread->tid ? -1 : x->thread->tid > y->thread->tid;
}

static size_t thread_rows(const struct page_writer *w, struct thread_row **rows)
{
	size_t count = 0;

	*rows = NULL;
	for (size_t m = 0; m < w->part->set->count; m++) {
		const struct trace *trace = w->part->set->members[m].trace;
		const struct page_facts *facts = w->part->facts[m];

		for (size_t t = 0; t < trace->thread_count; t++) {
			MEMORY_ROOM(*rows, count);
			(*rows)[count++] = (struct thread_row){
			    &trace->threads[t],
			    t < facts->thread_count ? facts->threads[t] : (struct page_thread){0},
			    facts->shift_ns};
		}
	}
	if (count)
		qsort(*rows, count, sizeof(**rows), compare_threads);
	return count < THREADS_MOST ? count : THREADS_MOST;
}

#define ROW_COLUMN(w, name, rows, count, value)                                                    \
	do {                                                                                       \
		column_begin(w, name);                                                             \
		for (size_t i = 0; i < (count); i++)                                               \
			json_double((w)->json, NULL, (double)(value));                             \
		column_end(w);                                                                     \
	} while (0)

static void write_threads(struct page_writer *w)
{
	struct thread_row *rows;
	size_t count = thread_rows(w, &rows);

	json_object_begin(w->json, "threads");
	ROW_COLUMN(w, "tid", rows, count, rows[i].thread->tid);
	column_begin(w, "name");
	for (size_t i = 0; i < count; i++)
		json_string(w->json, NULL, rows[i].thread->name ? rows[i].thread->name : "");
	column_end(w);
	ROW_COLUMN(w, "first", rows, count, micros(rows[i].shift_ns + rows[i].thread->first_ns));
	ROW_COLUMN(w, "last", rows, count, micros(rows[i].shift_ns + rows[i].thread->last_ns));
	ROW_COLUMN(w, "allocated_count", rows, count, round(rows[i].numbers.made_count));
	ROW_COLUMN(w, "allocated_bytes", rows, count, round(rows[i].numbers.made_bytes));
	ROW_COLUMN(w, "freed_count", rows, count, round(rows[i].numbers.freed_count));
	ROW_COLUMN(w, "live_bytes", rows, count, round(rows[i].numbers.live_bytes));
	json_object_end(w->json);
	free(rows);
}

static void write_modules(struct page_writer *w)
{
	const struct trace *trace = w->profile->traces[0].trace;
	size_t count = trace->module_count < MODULES_MOST ? trace->module_count : MODULES_MOST;

	json_object_begin(w->json, "modules");
	column_begin(w, "path");
	for (size_t i = 0; i < count; i++)
		json_string(w->json, NULL, trace->modules[i].path);
	column_end(w);
	column_begin(w, "build_id");
	for (size_t i = 0; i < count; i++) {
		char hex[2 * sizeof(trace->modules[i].build_id) + 1] = "";

		for (unsigned b = 0; b < trace->modules[i].build_id_bytes; b++)
			snprintf(hex + 2 * b, 3, "%02x", trace->modules[i].build_id[b]);
		json_string(w->json, NULL, hex);
	}
	column_end(w);
	json_object_end(w->json);
}

static void write_processes(struct page_writer *w)
{
	if (w->part->set->count < 2)
		return;
	json_array_begin(w->json, "processes");
	for (size_t m = 0; m < w->profile->trace_count; m++) {
		const struct profile_trace *pt = &w->profile->traces[m];
		const struct trace_info *info = &pt->trace->info;
		uint64_t first = micros(w->part->facts[m]->shift_ns);

		json_object_begin(w->json, NULL);
		json_unsigned(w->json, "pid", info->pid);
		json_unsigned(w->json, "ppid", info->ppid);
		json_string(w->json, "exe", info->exe);
		json_unsigned(w->json, "first", first);
		json_unsigned(w->json, "last", first + micros(info->duration_ns));
		json_double(w->json, "live_bytes", pt->totals.heap.of[METRIC_LIVE].bytes);
		json_double(w->json, "peak_bytes", pt->totals.heap.of[METRIC_PEAK].bytes);
		json_double(w->json, "allocated_bytes", pt->totals.heap.of[METRIC_ALLOCATED].bytes);
		json_double(w->json, "allocated_count", pt->totals.heap.of[METRIC_ALLOCATED].count);
		json_object_end(w->json);
	}
	json_array_end(w->json);
}

void page_write_tables(struct page_writer *w)
{
	write_marks(w);
	write_sizes(w);
	write_lifetimes(w);
	write_threads(w);
	write_modules(w);
	write_processes(w);
}
