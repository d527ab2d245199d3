/* A lock that knows its owner: see owner_lock.h. */
#include "owner_lock.h"

#include "os.h"

#define SPINS 100
#define NAPS 20000
#define NAP_NS 50000u

static bool take_free(struct owner_lock *lock, uint32_t self)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&lock->owner, &nobody, self, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* An owner that is no thread of this process any more died holding the lock (a
 * vfork child, a thread that exit ended): what it guarded is taken as it is. */
static bool take_from_dead(struct owner_lock *lock, uint32_t self)
{
	uint32_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);

	if (!owner || os_thread_exists(os_pid(), (int)owner))
		return false;
	return __atomic_compare_exchange_n(&lock->owner, &owner, self, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static bool wait_for(struct owner_lock *lock, uint32_t self)
{
	if (take_free(lock, self))
		return true;
	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self)
		return false;
	for (unsigned i = 0; i < SPINS; i++) {
		os_yield();
		if (take_free(lock, self))
			return true;
	}
	for (unsigned i = 0; i < NAPS; i++) {
		if (i % 100 == 0 && take_from_dead(lock, self))
			return true;
		os_sleep_ns(NAP_NS);
		if (take_free(lock, self))
			return true;
	}
	return false;
}

bool owner_lock_take(struct owner_lock *lock)
{
	uint64_t signals = os_block_signals();

	if (wait_for(lock, (uint32_t)os_tid())) {
		lock->signals = signals;
		return true;
	}
	os_restore_signals(signals);
	return false;
}

void owner_lock_release(struct owner_lock *lock)
{
	uint64_t signals = lock->signals;

	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
	os_restore_signals(signals);
}
