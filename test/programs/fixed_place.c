/* FLAGS: -no-pie -fno-pie */
/*
 * A program linked at a fixed place that takes the address of malloc: the loader
 * then says that "malloc" lies in the program, which is only a stub there.
 */
#include <stdlib.h>

void *(*volatile take)(size_t) = malloc;

int main(void)
{
	free(take(10));
	return 0;
}
