/*
 * See bar.h.
 */
#include "view/bar.h"

#include "view/sparkline.h"

#include <string.h>

char *bar_text(char *text, double part, double whole, unsigned columns)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned units = whole > 0 && part > 0 ? (unsigned)(part / whole * columns * 8 + 0.5) : 0;
	char *at = text;

	if (columns > 40)
		columns = 40;
	if (units > columns * 8)
		units = columns * 8;
	if (part > 0 && !units)
		units = 1;
	*at = '\0';
	for (unsigned i = 0; i < units / 8; i++)
		at = stpcpy(at, text_is_utf8() ? "█" : "#");
	if (text_is_utf8())
		strcpy(at, eighths[units % 8]);
	return text;
}
