/* A child of fork stops recording before it has done anything else: its parent's
 * goes on. Prints what the parent then thinks; `exec` as argument makes it count
 * images instead: the program becomes itself, until it has been three. */
#include <memprof/memprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *volatile block = malloc(100);

	if (argc > 1 && strlen(argv[1]) < 3) {
		char next[8];

		snprintf(next, sizeof(next), "%sx", argv[1]);
		execl("/no/such/program", "none", (char *)NULL);
		execl(argv[0], argv[0], next, (char *)NULL);
		return 1;
	}
	if (fork() == 0) {
		memprof_stop();
		_exit(0);
	}
	wait(NULL);
	printf("%s\n", memprof_is_active() ? "active" : "stopped");
	free(block);
	return 0;
}
