/*
 * Taking part in one's own profile. Include this file; there is nothing to
 * link. When the program runs under libmemprof.so the calls reach it, else they
 * do nothing (each looks for the library once, then costs a load and a branch).
 *
 *	#include <memprof/memprof.h>
 *
 *	load_everything();
 *	memprof_snapshot("warmup");       // memprof-report leaks TRACE@warmup
 *
 *	memprof_scope_begin("request");   // memprof-report top-sites --by scope
 *	serve();
 *	memprof_scope_end();
 *
 * C and C++; programs, position independent or not, and plug-ins. Names are
 * copied; NULL counts as "". All functions may be called by any thread at any
 * time; none changes errno or fails.
 */
#ifndef MEMPROF_MEMPROF_H
#define MEMPROF_MEMPROF_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weak, so that a static program links: it finds nothing there, and does nothing. */
static __typeof__(dlsym) memprof_dlsym_ __attribute__((weakref("dlsym")));

/* What *cache says of @name: a function, or NULL when the library isn't there.
 * NULL as the first argument of dlsym is RTLD_DEFAULT. */
static inline void *memprof_find_(void **cache, const char *name)
{
	static char absent_;
	void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (__builtin_expect(found == NULL, 0)) {
		found = memprof_dlsym_ ? memprof_dlsym_(NULL, name) : NULL;
		if (found == NULL)
			found = &absent_;
		__atomic_store_n(cache, found, __ATOMIC_RELAXED);
	}
	return found == (void *)&absent_ ? NULL : found;
}

#define MEMPROF_CALL_(name, type, ...)                                                             \
	do {                                                                                       \
		static void *cache_;                                                               \
		type function_;                                                                    \
		void *found_ = memprof_find_(&cache_, name);                                       \
		if (found_ != NULL) {                                                              \
			__builtin_memcpy(&function_, &found_, sizeof function_);                   \
			function_(__VA_ARGS__);                                                    \
		}                                                                                  \
	} while (0)

/* This moment gets a name: what is live now can be looked at as TRACE@name. */
static inline void memprof_snapshot(const char *name)
{
	typedef void (*type_)(const char *);
	MEMPROF_CALL_("memprof_snapshot", type_, name);
}

/* Something happened, to be seen on the timeline; @detail may be NULL. */
static inline void memprof_event(const char *name, const char *detail)
{
	typedef void (*type_)(const char *, const char *);
	MEMPROF_CALL_("memprof_event", type_, name, detail);
}

/* Recording on, from here on; blocks that live already are not known. */
static inline void memprof_start(void)
{
	typedef void (*type_)(void);
	MEMPROF_CALL_("memprof_start", type_);
}

/* Recording off; blocks live at this moment become unknown, not leaked. */
static inline void memprof_stop(void)
{
	typedef void (*type_)(void);
	MEMPROF_CALL_("memprof_stop", type_);
}

/* Mean number of bytes between samples from here on; 1: record everything. */
static inline void memprof_set_rate(uint64_t bytes)
{
	typedef void (*type_)(uint64_t);
	MEMPROF_CALL_("memprof_set_rate", type_, bytes);
}

/* Reports may begin here: TRACE@reset. */
static inline void memprof_reset(void)
{
	typedef void (*type_)(void);
	MEMPROF_CALL_("memprof_reset", type_);
}

/* What this thread allocates up to the matching end belongs to @name. Scopes
 * nest; 16 levels and 63 characters are kept. */
static inline void memprof_scope_begin(const char *name)
{
	typedef void (*type_)(const char *);
	MEMPROF_CALL_("memprof_scope_begin", type_, name);
}

static inline void memprof_scope_end(void)
{
	typedef void (*type_)(void);
	MEMPROF_CALL_("memprof_scope_end", type_);
}

/* 1: the library is there and recording; else 0. */
static inline int memprof_is_active(void)
{
	typedef void (*type_)(int *);
	int is_active = 0;
	MEMPROF_CALL_("memprof_is_active", type_, &is_active);
	return is_active;
}

#ifdef __cplusplus
}
#endif

#endif
