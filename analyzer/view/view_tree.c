/*
 * tree and callers: the call tree from main down, and from the allocation up.
 * Branches below a share of the total are folded into one line.
 */
#include "model/call_tree.h"
#include "util/memory.h"
#include "view/common.h"
#include "view/view_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *threshold_text;
static uint64_t depth_max;

const struct option view_tree_options[] = {
	{ "threshold", 0, OPTION_STRING, "PERCENT", "fold branches below that share (1)",
	  &threshold_text, NULL, NULL },
	{ "depth", 0, OPTION_NUMBER, "N", "no more than so many levels; 0 = all", &depth_max, NULL,
	  NULL },
	{ 0 },
};

struct walk {
	const struct view_request *request;
	const struct call_tree *tree;
	struct table *table;
	struct json *json;
	bool has_own;              /* callers all end in main: nothing is their own */
	double threshold;          /* in units of the metric */
	size_t rows, rows_max;
	char *lines;               /* what is drawn in front of a row */
	size_t room;
};

static const struct number *total_of(const struct walk *walk, const struct call_node *node)
{
	return &node->total.of[walk->request->query.sort];
}

static double value_of(const struct walk *walk, const struct number *n)
{
	return number_value(n, walk->request->query.by_count);
}

/* ---- text ---- */

static void number_cells(struct walk *walk, const struct number *total, const struct number *own,
			 enum table_style style)
{
	const struct view_request *request = walk->request;
	const struct number *whole = total_of(walk, &walk->tree->nodes[0]);
	char text[UNITS_BYTES];

	table_row(walk->table);
	table_cell(walk->table, style, "%s",
		   units_number(text, total, request->query.by_count, request->raw));
	table_cell(walk->table, style, "%s",
		   units_percent(text, value_of(walk, total), value_of(walk, whole)));
	if (!walk->has_own)
		return;
	if (!own)
		table_cell(walk->table, style, "%s", "");
	else if (value_of(walk, own) > 0)
		table_cell(walk->table, style, "%s",
			   units_number(text, own, request->query.by_count, request->raw));
	else
		table_cell(walk->table, TABLE_DIM, "%s", "-");
}

static void walk_children(struct walk *walk, const struct call_node *node);

/* Chains of single children would walk to the right edge: they stay in line. */
static void row(struct walk *walk, const struct call_node *node, bool is_last, bool is_chain)
{
	size_t length = strlen(walk->lines);
	char *words = frame_words(&node->frame);

	number_cells(walk, total_of(walk, node), &node->own.of[walk->request->query.sort],
		     TABLE_PLAIN);
	table_cell(walk->table, TABLE_PLAIN, "%s%s%s%s", walk->lines,
		   node->depth == 1 ? "" : is_chain ? "" : is_last ? "└ " : "├ ", words,
		   node->has_recursion ? "  (recursive)" : "");
	free(words);
	walk->rows++;
	if (node->depth > 1 && !is_chain) {
		if (length + 8 > walk->room) {
			walk->room = walk->room * 2 + 64;
			walk->lines = memory_resize(walk->lines, walk->room, 1);
		}
		strcpy(walk->lines + length, is_last ? "  " : "│ ");
	}
	walk_children(walk, node);
	walk->lines[length] = '\0';
}

static bool is_shown(const struct walk *walk, const struct call_node *node)
{
	return value_of(walk, total_of(walk, node)) >= walk->threshold &&
	       value_of(walk, total_of(walk, node)) > 0 && walk->rows < walk->rows_max &&
	       (!depth_max || node->depth <= depth_max);
}

static void walk_children(struct walk *walk, const struct call_node *node)
{
	const struct call_node *nodes = walk->tree->nodes;
	struct number rest = { 0 };
	size_t folded = 0, shown = 0, children = 0, with_value = 0;

	for (uint32_t i = node->first_child; i; i = nodes[i].next) {
		with_value += value_of(walk, total_of(walk, &nodes[i])) > 0;
		children += is_shown(walk, &nodes[i]);
	}
	for (uint32_t i = node->first_child; i; i = nodes[i].next) {
		if (is_shown(walk, &nodes[i])) {
			shown++;
			row(walk, &nodes[i], shown == children && shown == with_value,
			    with_value == 1 && node->depth > 1);
		} else if (value_of(walk, total_of(walk, &nodes[i])) > 0) {
			number_add(&rest, total_of(walk, &nodes[i]));
			folded++;
		}
	}
	if (!folded)
		return;
	number_cells(walk, &rest, NULL, TABLE_DIM);
	table_cell(walk->table, TABLE_DIM, "%s%s%zu more", walk->lines, node->depth ? "└ " : "",
		   folded);
}

static void print_text(struct walk *walk, const struct trace_set *set, struct profile *profile)
{
	const struct view_request *request = walk->request;
	char title[64];
	struct table_column columns[] = {
		{ title, TABLE_RIGHT, false }, { "share", TABLE_RIGHT, false },
		{ "own", TABLE_RIGHT, false }, { "call tree", TABLE_LEFT, true },
	};
	const struct table_column callers[] = {
	    columns[0], columns[1], {"call site, and who calls it", TABLE_LEFT, true}};

	snprintf(title, sizeof(title), "%s%s", metric_names[request->query.sort],
		 request->query.by_count ? " blocks" : "");
	print_heading(request, set, profile);
	walk->table = walk->has_own ? table_new(columns, 4) : table_new(callers, 3);
	walk->lines = memory_zeroed(64, 1);
	walk->room = 64;
	walk_children(walk, &walk->tree->nodes[0]);
	number_cells(walk, total_of(walk, &walk->tree->nodes[0]), NULL, TABLE_BOLD);
	table_cell(walk->table, TABLE_BOLD, "total");
	table_print(walk->table, request->out, request->width, request->color);
	table_free(walk->table);
	free(walk->lines);
}

/* ---- JSON, CSV ---- */

static void json_children(struct walk *walk, const struct call_node *node)
{
	const struct call_node *nodes = walk->tree->nodes;

	json_array_begin(walk->json, "children");
	for (uint32_t i = node->first_child; i && walk->json->depth + 4 < JSON_DEPTH;
	     i = nodes[i].next) {
		if (value_of(walk, total_of(walk, &nodes[i])) <= 0)
			continue;
		json_object_begin(walk->json, NULL);
		json_place(walk->json, &nodes[i].frame);
		json_number(walk->json, "total", total_of(walk, &nodes[i]));
		json_number(walk->json, "own", &nodes[i].own.of[walk->request->query.sort]);
		json_children(walk, &nodes[i]);
		json_object_end(walk->json);
	}
	json_array_end(walk->json);
}

static void print_json(struct walk *walk, const struct trace_set *set, struct profile *profile,
		       const char *schema)
{
	struct json json;

	json_init(&json, walk->request->out);
	walk->json = &json;
	json_object_begin(&json, NULL);
	json_string(&json, "schema", schema);
	json_traces(&json, set, profile);
	json_totals(&json, profile);
	json_string(&json, "metric", metric_names[walk->request->query.sort]);
	json_number(&json, "total", total_of(walk, &walk->tree->nodes[0]));
	json_children(walk, &walk->tree->nodes[0]);
	json_object_end(&json);
	json_end(&json);
}

static void csv_children(struct walk *walk, const struct call_node *node)
{
	const struct call_node *nodes = walk->tree->nodes;
	FILE *out = walk->request->out;

	for (uint32_t i = node->first_child; i; i = nodes[i].next) {
		const struct number *total = total_of(walk, &nodes[i]);
		const struct number *own = &nodes[i].own.of[walk->request->query.sort];

		if (value_of(walk, total) <= 0)
			continue;
		fprintf(out, "%u", nodes[i].depth);
		csv_text(out, nodes[i].frame.function, false);
		csv_text(out, nodes[i].frame.file, false);
		csv_double(out, nodes[i].frame.line);
		csv_text(out, nodes[i].frame.module, false);
		csv_double(out, total->count);
		csv_double(out, total->bytes);
		csv_double(out, own->count);
		csv_double(out, own->bytes);
		fputc('\n', out);
		csv_children(walk, &nodes[i]);
	}
}

/* ---- both views ---- */

static int parse_threshold(double *percent, struct error *err)
{
	char *end;

	*percent = 1;
	if (!threshold_text)
		return 0;
	*percent = strtod(threshold_text, &end);
	if (end == threshold_text || (*end && strcmp(end, "%")) || *percent < 0 || *percent > 100)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "--threshold needs a percentage, not \"%s\"", threshold_text);
	return 0;
}

static int show(struct view_request *request, struct trace_set *set, const char *schema,
		enum call_tree_direction direction, struct error *err)
{
	struct profile *profile;
	struct call_tree tree;
	struct walk walk = { .request = request, .tree = &tree,
			     .has_own = direction == CALL_TREE_DOWN };
	double percent;
	int status = parse_threshold(&percent, err);

	if (!status)
		status = profile_build(set, &request->query, &profile, err);
	if (status)
		return status;
	call_tree_build(profile, TALLY_HEAP, direction, &tree);
	walk.rows_max = query_rows(request->query.limit, 200, SIZE_MAX);
	walk.threshold = value_of(&walk, total_of(&walk, &tree.nodes[0])) * percent / 100;
	if (request->format == FORMAT_JSON) {
		print_json(&walk, set, profile, schema);
	} else if (request->format == FORMAT_CSV) {
		fputs(
		    "depth,function,file,line,module,total_count,total_bytes,own_count,own_bytes\n",
		    request->out);
		csv_children(&walk, &tree.nodes[0]);
	} else {
		print_text(&walk, set, profile);
	}
	call_tree_release(&tree);
	profile_free(profile);
	return 0;
}

int view_tree(struct view_request *request, struct trace_set *set, struct error *err)
{
	return show(request, set, "memprof.tree/1", CALL_TREE_DOWN, err);
}

int view_callers(struct view_request *request, struct trace_set *set, struct error *err)
{
	return show(request, set, "memprof.callers/1", CALL_TREE_CALLERS, err);
}
