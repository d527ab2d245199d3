/*
 * The page as it was bundled when memprof was built: everything but the data.
 */
#ifndef ANALYZER_PAGE_PAGE_TEMPLATE_H
#define ANALYZER_PAGE_PAGE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The two parts between which the payload goes (gzip, base64). False: memprof
 * was built without the page.
 */
bool page_template(const char **head, size_t *head_bytes, const char **tail, size_t *tail_bytes);

#endif
