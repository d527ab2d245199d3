/*
 * What the program has forbidden itself. A seccomp filter that kills (or traps) at
 * a call that the program never makes would kill it for one of ours; so filters are
 * kept as they are installed, and each call of ours is put to them first. What they
 * would not let pass fails with EPERM, like a call that they refuse.
 *
 * Known are filters that this very image of the program installs, by the C
 * library's prctl() or syscall(). They bind the installing thread and those that it
 * makes; here they count for all.
 */
#ifndef LIBMEMPROF_SANDBOX_H
#define LIBMEMPROF_SANDBOX_H

#include <stdbool.h>

/* prctl(@option, @a, @b) is about to be made; then it has had @result. */
void sandbox_before_prctl(unsigned long option, unsigned long a);
void sandbox_after_prctl(unsigned long option, unsigned long a, unsigned long b, long result);

/* The same for seccomp(@operation, flags, @argument). */
void sandbox_before_seccomp(unsigned long operation);
void sandbox_after_seccomp(unsigned long operation, const void *argument, long result);

#endif
