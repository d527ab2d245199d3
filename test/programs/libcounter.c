/* FLAGS: -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls -ldl -lm */
/*
 * An independent count of what a program allocates, to hold the profiler
 * against: LD_PRELOAD="libmemprof.so libcounter.so" puts it behind memprof, so
 * it sees the calls that reach the allocator. It keeps its own set of live
 * blocks under one lock and shares no line with memprof.
 *
 *	COUNTER_OUTPUT=DIR   totals of each process image, DIR/PID.1, DIR/PID.2 ...: a
 *	                     struct counter_file mapped shared, so that it is true at any
 *	                     moment, also after _exit, exec and SIGKILL
 *	COUNTER_SITES=1      also by return address (first one outside of memprof)
 *	COUNTER_RATE=BYTES   also the variances that estimates have which rest on samples
 *	                     at that mean distance: (1 - p) / p a block, p = 1 - e^(-size / rate)
 *	COUNTER_MARKS=N,N..  when so many allocations were made: copies the file to
 *	                     DIR/PID.1.mark1 ... and takes a memprof snapshot "mark1" ...
 *
 * The next definition in the loader's order does the work, so a program that
 * brings its own allocator as a shared library keeps it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC 0x32746e756f436d6dull /* "mmCount2" */
#define SITES 65536
#define MARKS_MAX 16

struct site {
	uint64_t pc, allocated, allocated_bytes, live, live_bytes;
	double variance, bytes_variance; /* that estimates of the allocated have */
};

struct counter_file { /* common.py reads it */
	uint64_t magic, pid;
	uint64_t allocated, allocated_bytes; /* calls that succeeded, bytes asked for */
	uint64_t freed, freed_bytes;         /* of blocks allocated in this image */
	uint64_t inherited, inherited_bytes; /* frees of blocks the image was born with */
	uint64_t unknown;                    /* frees of blocks never seen */
	uint64_t live, live_bytes, peak_bytes;
	uint64_t site_count, sites_lost;
	double allocated_variance, allocated_bytes_variance, live_variance, live_bytes_variance;
	struct site sites[SITES];
};

struct block {
	uintptr_t address; /* 0: free place */
	uint64_t size;
	uint32_t site;
	uint32_t is_inherited;
};

static struct counter_file nowhere; /* until there is a file, or without one */
static struct counter_file *file = &nowhere;
static char file_path[4096];

/* Open addressing, linear probing, deletion by shifting back: never more than
 * half full. */
static struct block *blocks;
static size_t block_places, block_count;

static int lock;
static bool is_by_site;
static double rate; /* 0: no variances */
static uint64_t marks[MARKS_MAX];
static unsigned mark_count, marks_taken;
static void (*take_snapshot)(const char *name);
static uintptr_t profiler_start, profiler_end;

static void lock_take(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void lock_give(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* ---- the set of live blocks ---------------------------------------------------- */

static size_t block_place(uintptr_t address)
{
	return (size_t)((address >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (block_places - 1);
}

static void blocks_put(struct block block)
{
	size_t at = block_place(block.address);

	while (blocks[at].address)
		at = (at + 1) & (block_places - 1);
	blocks[at] = block;
}

static void blocks_grow(void)
{
	struct block *old = blocks;
	size_t old_places = block_places;

	block_places = old_places ? 2 * old_places : 1 << 16;
	blocks = mmap(NULL, block_places * sizeof(*blocks), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (blocks == MAP_FAILED)
		abort();
	for (size_t i = 0; i < old_places; i++)
		if (old[i].address)
			blocks_put(old[i]);
	if (old)
		munmap(old, old_places * sizeof(*old));
}

static void blocks_add(struct block block)
{
	if (2 * block_count >= block_places)
		blocks_grow();
	blocks_put(block);
	block_count++;
}

static bool blocks_remove(uintptr_t address, struct block *block)
{
	size_t at = block_place(address), hole;

	if (!block_places)
		return false;
	while (blocks[at].address != address) {
		if (!blocks[at].address)
			return false;
		at = (at + 1) & (block_places - 1);
	}
	*block = blocks[at];
	for (hole = at;;) {
		size_t home;

		blocks[hole].address = 0;
		do {
			at = (at + 1) & (block_places - 1);
			if (!blocks[at].address) {
				block_count--;
				return true;
			}
			home = block_place(blocks[at].address);
		} while (((at - home) & (block_places - 1)) < ((at - hole) & (block_places - 1)));
		blocks[hole] = blocks[at];
		hole = at;
	}
}

/* ---- who called ------------------------------------------------------------------ */

static bool is_profiler(uintptr_t pc)
{
	return pc >= profiler_start && pc < profiler_end;
}

/* memprof keeps frame pointers, and so does this file: the chain leads through
 * both to the first return address that is somebody else's. */
static uintptr_t caller_pc(uintptr_t *frame)
{
	for (int i = 0; i < 8 && is_profiler(frame[1]); i++)
		frame = (uintptr_t *)frame[0];
	return frame[1];
}

static uint32_t site_of(uintptr_t pc)
{
	size_t at = (pc * 0x9e3779b97f4a7c15ull >> 40) & (SITES - 1);

	while (file->sites[at].pc && file->sites[at].pc != pc)
		at = (at + 1) & (SITES - 1);
	if (!file->sites[at].pc) {
		if (file->site_count >= SITES / 2) {
			file->sites_lost++;
			return UINT32_MAX;
		}
		file->sites[at].pc = pc;
		file->site_count++;
	}
	return (uint32_t)at;
}

/* ---- counting, all under the lock ---------------------------------------------------- */

static void copy_path(const char *from, const char *to)
{
	char part[65536];
	ssize_t got;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	while (in >= 0 && out >= 0 && (got = read(in, part, sizeof(part))) > 0)
		if (write(out, part, (size_t)got) != got)
			break;
	close(in);
	close(out);
}

static void file_save(const char *name)
{
	char path[sizeof(file_path) + 32];

	if (!file_path[0])
		return;
	snprintf(path, sizeof(path), "%s.%s.maps", file_path, name);
	copy_path("/proc/self/maps", path);
	snprintf(path, sizeof(path), "%s.%s", file_path, name);
	copy_path(file_path, path);
}

static void take_mark(void)
{
	char name[16];

	snprintf(name, sizeof(name), "mark%u", ++marks_taken);
	file_save(name);
	if (take_snapshot)
		take_snapshot(name);
}

/* What a block adds to the variance of an estimated count. A size of 0 counts as 1. */
static double block_variance(uint64_t size)
{
	double p = rate > 0 ? -expm1(-(double)(size ? size : 1) / rate) : 1;

	return (1 - p) / p;
}

static void add_variance(uint64_t size, double sign)
{
	double variance = sign * block_variance(size);

	file->live_variance += variance;
	file->live_bytes_variance += variance * (double)size * (double)size;
	if (sign < 0)
		return;
	file->allocated_variance += variance;
	file->allocated_bytes_variance += variance * (double)size * (double)size;
}

static void count_allocation(void *address, uint64_t size, uintptr_t *frame)
{
	struct block block = { .address = (uintptr_t)address, .size = size, .site = UINT32_MAX };
	bool is_mark;

	lock_take();
	if (is_by_site && file != &nowhere) {
		block.site = site_of(caller_pc(frame));
		if (block.site != UINT32_MAX) {
			struct site *site = &file->sites[block.site];

			site->allocated++;
			site->allocated_bytes += size;
			site->live++;
			site->live_bytes += size;
			site->variance += block_variance(size);
			site->bytes_variance += block_variance(size) * (double)size * (double)size;
		}
	}
	blocks_add(block);
	file->allocated++;
	file->allocated_bytes += size;
	file->live++;
	file->live_bytes += size;
	if (rate > 0)
		add_variance(size, 1);
	if (file->peak_bytes < file->live_bytes)
		file->peak_bytes = file->live_bytes;
	is_mark = marks_taken < mark_count && file->allocated == marks[marks_taken];
	lock_give();
	if (is_mark)
		take_mark();
}

static void count_removed(const struct block *block)
{
	if (block->is_inherited) {
		file->inherited++;
		file->inherited_bytes += block->size;
		return;
	}
	file->freed++;
	file->freed_bytes += block->size;
	file->live--;
	file->live_bytes -= block->size;
	if (rate > 0)
		add_variance(block->size, -1);
	if (block->site != UINT32_MAX) {
		file->sites[block->site].live--;
		file->sites[block->site].live_bytes -= block->size;
	}
}

static void count_free(void *address)
{
	struct block block;

	lock_take();
	if (blocks_remove((uintptr_t)address, &block))
		count_removed(&block);
	else
		file->unknown++;
	lock_give();
}

/* ---- the allocator behind us ------------------------------------------------------------- */

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void (*free)(void *);
} next;

/* What the loader asks for while it looks the others up: handed out once, never
 * counted, never given back. */
static char early[16384] __attribute__((aligned(16)));
static size_t early_used;

static void *early_alloc(size_t size)
{
	char *got = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return got;
}

static bool is_early(void *address)
{
	return (char *)address >= early && (char *)address < early + sizeof(early);
}

static void next_find(void)
{
	next.malloc = (void *(*)(size_t))early_alloc;
	next.calloc = dlsym(RTLD_NEXT, "calloc");
	next.realloc = dlsym(RTLD_NEXT, "realloc");
	next.memalign = dlsym(RTLD_NEXT, "memalign");
	next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	next.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	next.valloc = dlsym(RTLD_NEXT, "valloc");
	next.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	next.free = dlsym(RTLD_NEXT, "free");
	next.malloc = dlsym(RTLD_NEXT, "malloc");
}

/* The first call comes from the loader, before there are threads. */
static inline void next_need(void)
{
	if (__builtin_expect(!next.malloc, 0))
		next_find();
}

/* ---- the allocation family ------------------------------------------------------------- */

#define FRAME() ((uintptr_t *)__builtin_frame_address(0))

static void *counted(void *address, uint64_t size, uintptr_t *frame)
{
	if (address && !is_early(address))
		count_allocation(address, size, frame);
	return address;
}

void *malloc(size_t size)
{
	next_need();
	return counted(next.malloc(size), size, FRAME());
}

void *calloc(size_t count, size_t size)
{
	next_need();
	if (!next.calloc)
		return early_alloc(count * size);
	return counted(next.calloc(count, size), count * size, FRAME());
}

void *memalign(size_t alignment, size_t size)
{
	next_need();
	return counted(next.memalign(alignment, size), size, FRAME());
}

void *aligned_alloc(size_t alignment, size_t size)
{
	next_need();
	return counted(next.aligned_alloc(alignment, size), size, FRAME());
}

void *valloc(size_t size)
{
	next_need();
	return counted(next.valloc(size), size, FRAME());
}

void *pvalloc(size_t size)
{
	next_need();
	return counted(next.pvalloc(size), size, FRAME());
}

int posix_memalign(void **address, size_t alignment, size_t size)
{
	int status;

	next_need();
	status = next.posix_memalign(address, alignment, size);
	if (status == 0)
		counted(*address, size, FRAME());
	return status;
}

void free(void *address)
{
	int saved = errno;

	if (!address || is_early(address))
		return;
	next_need();
	count_free(address);
	next.free(address);
	errno = saved;
}

/* The old block leaves the set before the allocator can give its address to
 * another thread, and comes back when the call fails. */
static void *counted_realloc(void *old, size_t size, uintptr_t *frame)
{
	struct block block = { 0 };
	bool is_known;
	void *got;

	next_need();
	if (!old)
		return counted(next.malloc(size), size, frame);
	if (is_early(old)) {
		got = counted(next.malloc(size), size, frame);
		return got ? memcpy(got, old, size) : NULL;
	}
	lock_take();
	is_known = blocks_remove((uintptr_t)old, &block);
	lock_give();
	got = next.realloc(old, size);
	lock_take();
	if (!got && size) {
		if (is_known)
			blocks_add(block);
	} else if (is_known) {
		count_removed(&block);
	} else {
		file->unknown++;
	}
	lock_give();
	return counted(got, size, frame);
}

void *realloc(void *old, size_t size)
{
	return counted_realloc(old, size, FRAME());
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return counted_realloc(old, bytes, FRAME());
}

/* ---- beginning, fork, end ------------------------------------------------------------------ */

static void file_open(void)
{
	const char *folder = getenv("COUNTER_OUTPUT");
	struct counter_file *opened = MAP_FAILED;
	int fd = -1;

	file_path[0] = 0;
	for (int image = 1; folder && fd < 0 && image < 1000; image++) {
		snprintf(file_path, sizeof(file_path), "%s/%d.%d", folder, (int)getpid(), image);
		fd = open(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (fd >= 0 && !ftruncate(fd, sizeof(*file)))
		opened = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (opened == MAP_FAILED) {
		file_path[0] = 0;
		return;
	}
	opened->pid = (uint64_t)getpid();
	if (file == &nowhere) { /* what was allocated before the constructor */
		uint64_t pid = opened->pid;

		memcpy(opened, &nowhere, offsetof(struct counter_file, sites));
		opened->pid = pid;
	}
	opened->magic = MAGIC;
	file = opened;
}

static int find_profiler(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!strstr(info->dlpi_name, "libmemprof.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		profiler_start = info->dlpi_addr + part->p_vaddr;
		profiler_end = profiler_start + part->p_memsz;
	}
	return 1;
}

static void child_begin(void)
{
	struct counter_file *parents = file;

	for (size_t i = 0; i < block_places; i++) {
		blocks[i].is_inherited = 1;
		blocks[i].site = UINT32_MAX;
	}
	file = &nowhere;
	memset(&nowhere, 0, offsetof(struct counter_file, sites));
	file_open();
	if (parents != &nowhere)
		munmap(parents, sizeof(*parents));
	lock_give();
}

static void __attribute__((constructor)) begin(void)
{
	const char *at = getenv("COUNTER_MARKS");

	is_by_site = getenv("COUNTER_SITES") != NULL;
	rate = getenv("COUNTER_RATE") ? strtod(getenv("COUNTER_RATE"), NULL) : 0;
	dl_iterate_phdr(find_profiler, NULL);
	take_snapshot = (void (*)(const char *))dlsym(RTLD_DEFAULT, "memprof_snapshot");
	for (; at && *at && mark_count < MARKS_MAX; at += *at == ',')
		marks[mark_count++] = strtoull(at, (char **)&at, 10);
	lock_take();
	file_open();
	lock_give();
	pthread_atfork(lock_take, lock_give, child_begin);
}

static void __attribute__((destructor)) end(void)
{
	if (is_by_site)
		file_save("end");
}
