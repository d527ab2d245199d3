/* Three threads and a child of fork allocate and free; ends with status 5 and
 * says how the child ended. For tests that make system calls fail. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		void *volatile block = malloc(100 + (size_t)(i % 50));

		if (i % 3)
			free(block);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];
	int status = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (fork() == 0) {
		work(NULL);
		exit(7);
	}
	wait(&status);
	printf("child ended with %d\n", WEXITSTATUS(status));
	return 5;
}
