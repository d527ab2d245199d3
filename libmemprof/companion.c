/*
 * Making and growing the companion file. It grows by batches of slots: one at
 * first, since most processes have one thread, then more at a time, since a
 * batch of 16 costs little more than one. Lanes and slots of the file count
 * apart: when the file can't grow any more, later lanes live in plain memory.
 */
#define _GNU_SOURCE
#include "companion.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "os.h"
#include "owner_lock.h"
#include "settings.h"
#include "trace_name.h"

#define PATH_ROOM (TRACE_NAME_MAX + 16)
#define BATCH_MAX 64u

_Alignas(CONTROL_PAGE_BYTES) union companion_page companion_page;

static struct {
	struct owner_lock growing;
	int descriptor; /* -1: no file */
	bool is_elsewhere, is_unlinked, needs_populating;
	uint64_t device, inode;
	uint32_t file_slots; /* in the file; under `growing` */
	uint32_t made;       /* slots there are; grows under `growing` */
	uint32_t taken;      /* of them by lanes; grows by compare-and-swap */
	struct trace_piece **slots; /* [COMPANION_SLOTS_MAX] */
	char path[PATH_ROOM];
} companion = { .descriptor = -1 };

/* ---- control words ------------------------------------------------------- */

bool control_is_active(void)
{
	return __atomic_load_n(&control_shared->is_active, __ATOMIC_RELAXED) != 0;
}

uint64_t control_rate_bytes(void)
{
	uint64_t rate = __atomic_load_n(&control_shared->rate_bytes, __ATOMIC_RELAXED);

	if (rate < 1 || rate > SETTINGS_RATE_MAX)
		return settings_get()->rate_bytes;
	return rate;
}

static void word_changed(void)
{
	__atomic_fetch_add(&control_shared->generation, 1, __ATOMIC_RELEASE);
}

void control_set_active(bool is_active)
{
	__atomic_store_n(&control_shared->is_active, is_active, __ATOMIC_RELAXED);
	word_changed();
}

void control_set_rate(uint64_t rate_bytes)
{
	__atomic_store_n(&control_shared->rate_bytes, rate_bytes, __ATOMIC_RELAXED);
	word_changed();
}

/* ---- which file systems will do ------------------------------------------ */

/* Pages of these are somebody else's to give: a store can hang or raise SIGBUS
 * although the file was allocated. */
static const uint32_t remote_kinds[] = {
	0x6969 /* nfs */,  0x65735546 /* fuse */, 0x01021997 /* 9p */,   0xff534d42 /* cifs */,
	0xfe534d42 /* smb2 */, 0x00c36400 /* ceph */, 0x0bd00bd0 /* lustre */, 0x5346414f /* afs */,
	0x2fc12fc1 /* zfs: no allocation ahead */,
};
#define KIND_BTRFS 0x9123683eu
#define FLAG_NOCOW 0x00800000

static bool is_remote(uint32_t kind)
{
	for (size_t i = 0; i < sizeof(remote_kinds) / sizeof(remote_kinds[0]); i++)
		if (remote_kinds[i] == kind)
			return true;
	return false;
}

/* A copy-on-write file system needs new blocks for every rewrite, unless told
 * otherwise while the file is empty. */
static bool file_system_will_do(int fd)
{
	struct statfs fs;
	int flags = 0;

	if (os_call2(SYS_fstatfs, fd, &fs) != 0 || is_remote((uint32_t)fs.f_type))
		return false;
	companion.needs_populating = (uint32_t)fs.f_type == KIND_BTRFS;
	if (companion.needs_populating && os_call3(SYS_ioctl, fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FLAG_NOCOW;
		os_call3(SYS_ioctl, fd, FS_IOC_SETFLAGS, &flags);
	}
	return true;
}

/* ---- slots ---------------------------------------------------------------- */

static uint64_t slot_offset(uint32_t index)
{
	return CONTROL_PAGE_BYTES + (uint64_t)index * TRACE_UNIT_BYTES;
}

static bool allocate(uint64_t offset, uint64_t bytes)
{
	return os_is_file(companion.descriptor, companion.device, companion.inode) &&
	       os_file_may_grow_to(offset + bytes) &&
	       os_call4(SYS_fallocate, companion.descriptor, 0, offset, bytes) == 0;
}

/* Blocks first, then the map: a page that is there can't raise SIGBUS later. */
static uint8_t *map_file_slots(uint32_t first, uint32_t count)
{
	uint64_t offset = slot_offset(first), bytes = (uint64_t)count * TRACE_UNIT_BYTES;
	long at;

	if (!allocate(offset, bytes))
		return NULL;
	at = os_call6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, companion.descriptor,
		      offset);
	if (os_is_error(at))
		return NULL;
	if (companion.needs_populating &&
	    os_call3(SYS_madvise, at, bytes, MADV_POPULATE_WRITE) != 0) {
		os_unmap((void *)at, bytes);
		return NULL;
	}
	return (uint8_t *)at;
}

static void add_slots(uint8_t *at, uint32_t count)
{
	os_keep_from_fork(at, (size_t)count * TRACE_UNIT_BYTES);
	for (uint32_t i = 0; i < count; i++)
		companion.slots[companion.made + i] =
			(struct trace_piece *)(at + (size_t)i * TRACE_UNIT_BYTES);
	__atomic_store_n(&companion.made, companion.made + count, __ATOMIC_RELEASE);
}

static bool add_file_slots(uint32_t count)
{
	uint8_t *at = companion.descriptor >= 0 ? map_file_slots(companion.file_slots, count) :
						  NULL;

	if (!at)
		return false;
	companion.file_slots += count;
	__atomic_store_n(&control_shared->slots, companion.file_slots, __ATOMIC_RELEASE);
	add_slots(at, count);
	return true;
}

static bool add_memory_slot(void)
{
	uint8_t *at = os_map(TRACE_UNIT_BYTES);

	if (at)
		add_slots(at, 1);
	return at;
}

/* Under `growing`. */
static bool add_batch(void)
{
	uint32_t count = companion.made ? companion.made * 3 : 1;

	if (__atomic_load_n(&companion.taken, __ATOMIC_RELAXED) < companion.made)
		return true; /* another thread just made some */
	if (count > BATCH_MAX)
		count = BATCH_MAX;
	if (!companion.slots || companion.made + count > COMPANION_SLOTS_MAX)
		return false;
	return add_file_slots(count) || add_file_slots(1) || add_memory_slot();
}

static bool grow(void)
{
	bool done;

	if (os_is_forbidden || !owner_lock_take(&companion.growing))
		return false;
	done = add_batch();
	owner_lock_release(&companion.growing);
	return done;
}

struct trace_piece *companion_take_slot(uint32_t *lane)
{
	uint32_t taken = __atomic_load_n(&companion.taken, __ATOMIC_RELAXED);

	for (;;) {
		if (taken >= __atomic_load_n(&companion.made, __ATOMIC_ACQUIRE)) {
			if (!grow())
				return NULL;
			taken = __atomic_load_n(&companion.taken, __ATOMIC_RELAXED);
			continue;
		}
		/* release: whoever folds sees the slots behind the count */
		if (__atomic_compare_exchange_n(&companion.taken, &taken, taken + 1, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			break;
	}
	*lane = taken + 1;
	__atomic_store_n(&control_shared->threads, taken + 1, __ATOMIC_RELAXED);
	return companion.slots[taken];
}

uint32_t companion_lanes(void)
{
	return __atomic_load_n(&companion.taken, __ATOMIC_ACQUIRE);
}

struct trace_piece *companion_slot(uint32_t lane)
{
	return companion.slots[lane - 1];
}

/* ---- the file -------------------------------------------------------------- */

static void forget(void)
{
	if (os_is_file(companion.descriptor, companion.device, companion.inode))
		os_close(companion.descriptor);
	companion.growing.owner = 0;
	companion.descriptor = -1;
	companion.is_elsewhere = false;
	companion.is_unlinked = false;
	companion.needs_populating = false;
	companion.file_slots = companion.made = companion.taken = 0;
	companion.path[0] = '\0';
}

static bool map_control(int fd, const struct control_page *identity)
{
	long at;

	if (os_pwrite_all(fd, identity, sizeof(*identity), 0) != 0)
		return false;
	at = os_call6(SYS_mmap, &companion_page, CONTROL_PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, fd, 0);
	return !os_is_error(at);
}

/* The page as private memory again: also what parts a child from its parent's. */
static void keep_control_private(const struct control_page *identity)
{
	os_call6(SYS_mmap, &companion_page, CONTROL_PAGE_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	companion_page.control = *identity;
}

static bool fill_file(int fd, const struct control_page *identity)
{
	struct stat st;

	if (!file_system_will_do(fd) || os_fstat(fd, &st) != 0)
		return false;
	companion.descriptor = fd;
	companion.device = st.st_dev;
	companion.inode = st.st_ino;
	/* Page and first slot at one go: the second time costs nothing. */
	if (allocate(0, slot_offset(1)) && map_control(fd, identity) && add_file_slots(1))
		return true;
	companion.descriptor = -1;
	return false;
}

/* A file of this name can only be a dead one's: the trace beside it is new. */
static int create_file(void)
{
	int fd;

	os_call1(SYS_unlink, companion.path);
	fd = os_open_high(companion.path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600);
	if (fd >= 0)
		os_call2(SYS_fchmod, fd, 0600);
	return fd;
}

static void discard_file(int fd)
{
	os_close(fd);
	os_call1(SYS_unlink, companion.path);
}

static bool make_file(const struct control_page *identity)
{
	int fd = create_file();

	if (fd >= 0 && !fill_file(fd, identity)) {
		discard_file(fd);
		fd = -1;
	}
	return fd >= 0;
}

static bool make_file_in(const char *folder, const struct control_page *identity)
{
	if (!folder || !*folder || strlen(folder) > TRACE_NAME_MAX - 64)
		return false;
	text_format(companion.path, PATH_ROOM, "%s/.memprof.%lu.%lu.live", folder, identity->pid,
		    identity->start_mono_ns);
	companion.is_elsewhere = true;
	return make_file(identity);
}

bool companion_open(const char *trace_path, const struct control_page *identity,
		    const char *temporary)
{
	forget();
	if (!companion.slots)
		companion.slots = os_map(COMPANION_SLOTS_MAX * sizeof(*companion.slots));
	if (!companion.slots) {
		keep_control_private(identity);
		return false;
	}
	if (trace_name_companion(trace_path, companion.path, PATH_ROOM) && make_file(identity))
		return true;
	if (make_file_in("/dev/shm", identity) || make_file_in(temporary, identity))
		return true;
	companion.path[0] = '\0';
	keep_control_private(identity);
	return false;
}

void companion_unlink(void)
{
	if (companion.descriptor < 0)
		return;
	os_call1(SYS_unlink, companion.path);
	companion.is_unlinked = true;
}

static bool copy_slot(int fd, struct trace_piece *slot)
{
	return os_pwrite_all(fd, slot, TRACE_UNIT_BYTES, slot_offset(0)) == 0 &&
	       !os_is_error(os_call6(SYS_mmap, slot, TRACE_UNIT_BYTES, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_FIXED, fd, slot_offset(0)));
}

/* The new file takes the place of the old one under control page and slot. */
static bool move_to(int fd)
{
	const struct control_page identity = companion_page.control;
	struct trace_piece *slot = companion.slots[0];
	struct stat st;

	if (!file_system_will_do(fd) || os_fstat(fd, &st) != 0 ||
	    !os_file_may_grow_to(slot_offset(1)) ||
	    os_call4(SYS_fallocate, fd, 0, 0, slot_offset(1)) != 0 || !copy_slot(fd, slot) ||
	    !map_control(fd, &identity))
		return false;
	os_keep_from_fork(slot, TRACE_UNIT_BYTES);
	os_close(companion.descriptor);
	companion.descriptor = fd;
	companion.device = st.st_dev;
	companion.inode = st.st_ino;
	return true;
}

/* With more lanes than one some thread could be writing while its slot moves. */
void companion_restore(void)
{
	int fd;

	if (!companion.is_unlinked || companion.descriptor < 0 || companion.made != 1)
		return;
	fd = create_file();
	if (fd >= 0 && !move_to(fd))
		discard_file(fd);
	companion.is_unlinked = fd < 0;
}

const char *companion_path(void)
{
	return companion.descriptor >= 0 ? companion.path : "";
}

bool companion_is_elsewhere(void)
{
	return companion.is_elsewhere && companion.descriptor >= 0;
}
