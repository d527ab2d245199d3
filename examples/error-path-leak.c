/*
 * A leak as it is found again and again in network programs, in miniature: a
 * header is copied before the message is checked, and the early return for a bad
 * message forgets the copy. Three messages in a hundred are bad, so that the leak
 * hides among many blocks of the same site that are freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
	char *header;
	char *body;
};

static int is_valid(unsigned id)
{
	return id % 100 >= 3;
}

static char *copy_text(const char *text, size_t bytes)
{
	char *copy = malloc(bytes + 1);

	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return copy;
}

static int parse(struct message *message, unsigned id, const char *text, size_t bytes)
{
	message->header = copy_text(text, bytes / 4);
	if (!is_valid(id))
		return -1; /* the header is lost here */
	message->body = copy_text(text, bytes);
	return 0;
}

static void answer(struct message *message)
{
	free(message->header);
	free(message->body);
}

int main(int argc, char **argv)
{
	unsigned messages = argc > 1 ? (unsigned)atoi(argv[1]) : 200000, refused = 0, id;
	char text[1024];

	memset(text, 'x', sizeof(text));
	for (id = 0; id < messages; id++) {
		struct message message = { 0 };

		if (parse(&message, id, text, 100 + id % 900))
			refused++;
		else
			answer(&message);
	}
	printf("%u messages, %u refused\n", messages, refused);
	return 0;
}
