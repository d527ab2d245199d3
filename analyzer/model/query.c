/*
 * See query.h.
 */
#include "model/query.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

const char *const query_by_names[] = {
	"site", "function", "line", "stack", "module", "thread", "scope", "size", "process", NULL,
};

int pattern_add(struct pattern *pattern, const char *text, struct error *err)
{
	regex_t expression;
	char words[256];
	int status = regcomp(&expression, text, REG_EXTENDED | REG_NOSUB);

	if (status) {
		regerror(status, &expression, words, sizeof(words));
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "\"%s\" is no regular expression: %s", text, words);
	}
	pattern->expressions = memory_resize(pattern->expressions, pattern->count + 1,
					     sizeof(*pattern->expressions));
	pattern->expressions[pattern->count++] = expression;
	return 0;
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	for (size_t i = 0; text && i < pattern->count; i++)
		if (!regexec(&pattern->expressions[i], text, 0, NULL, 0))
			return true;
	return false;
}

void pattern_release(struct pattern *pattern)
{
	for (size_t i = 0; i < pattern->count; i++)
		regfree(&pattern->expressions[i]);
	free(pattern->expressions);
	*pattern = (struct pattern){ 0 };
}

int query_sort_parse(struct query *query, const char *text, struct error *err)
{
	for (int m = 0; m < METRIC_COUNT; m++) {
		size_t length = strlen(metric_names[m]);

		if (strncmp(text, metric_names[m], length))
			continue;
		if (text[length] && strcmp(text + length, ".count") &&
		    strcmp(text + length, ".bytes"))
			continue;
		query->sort = m;
		query->sort_given = true;
		if (text[length])
			query->by_count = text[length + 1] == 'c';
		return 0;
	}
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			 "--sort does not know \"%s\": it is one of allocated, freed, live, peak, "
			 "temporary, or the same with .count",
			 text);
}

bool query_narrows_stacks(const struct query *query)
{
	return query->focus.count || query->ignore.count || query->module.count;
}

bool query_narrows(const struct query *query)
{
	return query_narrows_stacks(query) || query->thread.count || query->min_size ||
	       query->max_size || query->from || query->to;
}

void query_init(struct query *query)
{
	*query = (struct query){ .by = BY_SITE, .sort = METRIC_ALLOCATED, .limit = QUERY_DEFAULT,
				 .stacks = QUERY_DEFAULT };
}

void query_release(struct query *query)
{
	struct pattern *all[] = { &query->focus, &query->ignore, &query->hide,    &query->show,
				  &query->thread, &query->module, &query->wrappers };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		pattern_release(all[i]);
	free(query->debug_dirs.items);
}
