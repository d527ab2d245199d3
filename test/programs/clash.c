/* FLAGS: -rdynamic -fno-builtin */
/*
 * A program with functions of the names that a profiler's library might call.
 * Whoever binds to them ends it. What a report must say is printed as in cases.c.
 */
void *malloc(unsigned long);
void free(void *);
int puts(const char *);
void abort(void) __attribute__((noreturn));

#define CLASH(name)                                                                                \
	long name(void);                                                                           \
	long name(void)                                                                            \
	{                                                                                          \
		abort();                                                                           \
	}

CLASH(XXH64)
CLASH(XXH3_64bits)
CLASH(unw_step)
CLASH(unw_init_local)
CLASH(unw_backtrace)
CLASH(backtrace)
CLASH(os_map)
CLASH(log_warn)
CLASH(clock_read)
CLASH(pwrite)
CLASH(pwrite64)
CLASH(pwritev)
CLASH(fallocate)
CLASH(ftruncate)
CLASH(madvise)
CLASH(snprintf)
CLASH(memchr)
CLASH(gettid)
CLASH(clock_gettime)

void *site_clash(unsigned long size) __attribute__((noinline));
void *site_clash(unsigned long size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block)::"memory");
	return block;
}

int main(void)
{
	for (int i = 0; i < 100000; i++)
		free(site_clash(14));
	puts("site site_clash 100000 1400000 0 0");
	return 0;
}
