/*
 * A table of sites: the columns a view asks for, rows that the limit cuts summed
 * up in one, the total below. Columns add up.
 */
#ifndef ANALYZER_VIEW_SITES_TABLE_H
#define ANALYZER_VIEW_SITES_TABLE_H

#include "model/profile.h"
#include "view/freed_by.h"
#include "view/view.h"

struct sites_column {
	enum metric metric;
	bool by_count;
	bool is_share;             /* of the total, in percent */
	const char *title;
};

struct sites_table {
	const struct sites_column *columns;
	size_t column_count;
	enum tally_kind kind;
	size_t stacks;             /* stacks shown below each site, when not asked otherwise */
	size_t frames;             /* frames of a stack shown */
	/* false: the site is left out of the rows and of the total. NULL: all. */
	bool (*is_wanted)(const struct profile_site *site);
	const struct freed_by *freed_by; /* told below each site that shows its stacks; or NULL */
};

/* Returns how many sites there were. */
size_t sites_table_print(const struct view_request *request, struct profile *profile,
			 const struct sites_table *shape);

/* All sites as CSV, every metric. */
void sites_csv(const struct view_request *request, struct profile *profile);

#endif
