/* FLAGS: -rdynamic -fno-builtin -Wl,-z,max-page-size=0x200000 */
/*
 * A program with functions of the names that a profiler's library might call.
 * Whoever binds to them ends it. Its segments have gaps between them, so that its
 * stacks need a table outside of what the loader tells of. What a report must say is
 * printed as in cases.c.
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
CLASH(getauxval)

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
