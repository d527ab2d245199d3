/*
 * See json.h.
 */
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_init(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out };
}

/* ---- strings ---- */

/* Length of the UTF-8 sequence at @at, 0 when it is none. */
static unsigned utf8_length(const unsigned char *at)
{
	unsigned length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 :
			  *at < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if (length == 3 && ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0)))
		return 0; /* too long; a surrogate */
	if (length == 4 && ((*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] >= 0x90)))
		return 0;
	return length;
}

static void write_escape(FILE *out, unsigned char byte)
{
	static const char letters[] = "\b\t\n\f\r\"\\";
	static const char codes[] = "btnfr\"\\";
	const char *found = byte ? strchr(letters, byte) : NULL;

	if (found)
		fprintf(out, "\\%c", codes[found - letters]);
	else
		fprintf(out, "\\u%04x", byte);
}

static void write_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		const unsigned char *plain = at;

		while (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
			at++;
		if (at > plain) {
			fwrite(plain, 1, (size_t)(at - plain), out);
		} else if (*at < 0x80) {
			write_escape(out, *at++);
		} else {
			unsigned length = utf8_length(at);

			if (length)
				fwrite(at, 1, length, out);
			else
				fputs("\xef\xbf\xbd", out);
			at += length ? length : 1;
		}
	}
	fputc('"', out);
}

/* ---- structure ---- */

static void write_break(struct json *json)
{
	fputc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

static void item_begin(struct json *json, const char *key)
{
	bool is_inline = json->is_inline[json->depth] || json->is_compact;

	if (json->has_items[json->depth])
		fputs(is_inline ? ", " : ",", json->out);
	if (!is_inline && json->depth)
		write_break(json);
	json->has_items[json->depth] = true;
	if (key) {
		write_string(json->out, key);
		fputs(": ", json->out);
	}
}

static void level_begin(struct json *json, const char *key, char bracket, bool is_inline)
{
	item_begin(json, key);
	fputc(bracket, json->out);
	is_inline |= json->is_inline[json->depth];
	json->depth++;
	json->has_items[json->depth] = false;
	json->is_inline[json->depth] = is_inline;
}

static void level_end(struct json *json, char bracket)
{
	bool is_inline = json->is_inline[json->depth] || json->is_compact;
	bool had_items = json->has_items[json->depth];

	json->depth--;
	if (!is_inline && had_items)
		write_break(json);
	fputc(bracket, json->out);
}

void json_object_begin(struct json *json, const char *key)
{
	level_begin(json, key, '{', false);
}

void json_row_begin(struct json *json, const char *key)
{
	level_begin(json, key, '{', true);
}

void json_object_end(struct json *json)
{
	level_end(json, '}');
}

void json_array_begin(struct json *json, const char *key)
{
	level_begin(json, key, '[', false);
}

void json_list_begin(struct json *json, const char *key)
{
	level_begin(json, key, '[', true);
}

void json_array_end(struct json *json)
{
	level_end(json, ']');
}

void json_end(struct json *json)
{
	fputc('\n', json->out);
}

/* ---- values ---- */

void json_string(struct json *json, const char *key, const char *value)
{
	item_begin(json, key);
	if (value)
		write_string(json->out, value);
	else
		fputs("null", json->out);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
	item_begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

static void write_digits(FILE *out, uint64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	fwrite(at, 1, (size_t)(digits + sizeof(digits) - at), out);
}

static void write_double(FILE *out, double value)
{
	double whole = nearbyint(value);

	if (!isfinite(value)) {
		fputs("null", out);
	} else if (whole == value && fabs(value) < 9007199254740992.0) {
		if (value < 0)
			fputc('-', out);
		write_digits(out, (uint64_t)fabs(value));
	} else {
		fprintf(out, "%.3f", value);
	}
}

void json_double(struct json *json, const char *key, double value)
{
	item_begin(json, key);
	write_double(json->out, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	item_begin(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
	item_begin(json, key);
	fputs("null", json->out);
}

void json_number(struct json *json, const char *key, const struct number *number)
{
	item_begin(json, key);
	fputs("{\"count\": ", json->out);
	write_double(json->out, number->count);
	fputs(", \"bytes\": ", json->out);
	write_double(json->out, number->bytes);
	fputs(", \"count_error\": ", json->out);
	write_double(json->out, number_count_error(number));
	fputs(", \"bytes_error\": ", json->out);
	write_double(json->out, number_bytes_error(number));
	fputc('}', json->out);
}
