/*
 * A program for the CMake example: it frees all that it takes. With an argument
 * it forgets one block, to see the gate fail.
 */
#include <stdlib.h>
#include <string.h>

static char *volatile kept;

int main(int argc, char **argv)
{
	char *copy = strdup(argv[0]);

	(void)argv;
	if (argc > 1)
		kept = malloc(24);
	free(copy);
	return 0;
}
