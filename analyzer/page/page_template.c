/*
 * Holds the bundled page. template.inc is made by bundle.sh; objects that are
 * built without it (unit tests) have no page, as a build without npm has none.
 */
#include "page/page_template.h"

#include <string.h>

static const unsigned char template_bytes[] = {
#if __has_include("template.inc")
#include "template.inc"
#endif
    0};

#define PAYLOAD_HERE "@MEMPROF_PAYLOAD@"

bool page_template(const char **head, size_t *head_bytes, const char **tail, size_t *tail_bytes)
{
	const char *text = (const char *)template_bytes;
	const char *here = strstr(text, PAYLOAD_HERE);

	if (!here)
		return false;
	*head = text;
	*head_bytes = (size_t)(here - text);
	*tail = here + strlen(PAYLOAD_HERE);
	*tail_bytes = strlen(*tail);
	return true;
}
