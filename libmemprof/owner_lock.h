/*
 * A lock for rare work (start of a process, new slots, a module): its word is
 * the owner's tid, so that who finds his own thread there gives up instead of
 * waiting for ever, and so that an owner that died in a vfork child is noticed.
 * Handlers wait until it is released: they might leave by siglongjmp, and with
 * them the lock's only owner. It must not be taken on the way of a usual event.
 */
#ifndef LIBMEMPROF_OWNER_LOCK_H
#define LIBMEMPROF_OWNER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct owner_lock {
	uint32_t owner;   /* 0: free */
	uint64_t signals; /* the owner's mask, to be restored */
};

/* Waits for other threads, a second at most. false: this very thread has it
 * already, or it was not to be had in time. */
bool owner_lock_take(struct owner_lock *lock);
void owner_lock_release(struct owner_lock *lock);

#endif
