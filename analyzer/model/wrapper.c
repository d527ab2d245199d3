/*
 * See wrapper.h. The list is data; a row says how its name is compared with the
 * function's own name, which is what is left of a demangled name without return
 * type, template arguments and parameters.
 */
#include "model/wrapper.h"

#include <string.h>

enum wrapper_match { MATCH_WHOLE, MATCH_PREFIX };

struct wrapper_row {
	enum wrapper_match match;
	const char *name;
};

struct wrapper_group {
	const char *words;
	const struct wrapper_row *rows;
	bool is_rust;              /* "core::" is a good name for a C++ namespace, too */
};

#define WHOLE(text) { MATCH_WHOLE, text }
#define PREFIX(text) { MATCH_PREFIX, text }
#define END { MATCH_WHOLE, NULL }

static const struct wrapper_row allocation_family[] = {
	WHOLE("malloc"), WHOLE("calloc"), WHOLE("realloc"), WHOLE("reallocarray"), WHOLE("free"),
	WHOLE("memalign"), WHOLE("aligned_alloc"), WHOLE("posix_memalign"), WHOLE("valloc"),
	WHOLE("pvalloc"), WHOLE("mmap"), WHOLE("mmap64"), WHOLE("__mmap"), WHOLE("mremap"),
	WHOLE("__mremap"), WHOLE("brk"), WHOLE("sbrk"), WHOLE("__sbrk"), PREFIX("__libc_malloc"),
	PREFIX("__libc_calloc"), PREFIX("__libc_realloc"), PREFIX("__libc_memalign"),
	PREFIX("__libc_reallocarray"), PREFIX("__libc_alloc_buffer"), END,
};

static const struct wrapper_row libc_copies[] = {
	WHOLE("strdup"), WHOLE("__strdup"), WHOLE("strndup"), WHOLE("__strndup"), WHOLE("wcsdup"),
	WHOLE("__wcsdup"), WHOLE("asprintf"), WHOLE("__asprintf"), WHOLE("___asprintf"),
	WHOLE("vasprintf"), WHOLE("__vasprintf"), WHOLE("___vasprintf"),
	WHOLE("__vasprintf_internal"), WHOLE("__asprintf_chk"), WHOLE("__vasprintf_chk"),
	WHOLE("___asprintf_chk"), WHOLE("___vasprintf_chk"), WHOLE("getline"),
	WHOLE("__getline"), WHOLE("getdelim"), WHOLE("__getdelim"), WHOLE("_IO_getdelim"),
	WHOLE("__libc_dynarray_resize"), WHOLE("__libc_scratch_buffer_grow"), END,
};

static const struct wrapper_row c_wrappers[] = {
	PREFIX("xmalloc"), PREFIX("xcalloc"), PREFIX("xrealloc"), WHOLE("xzalloc"),
	PREFIX("xstrdup"), PREFIX("xstrndup"), PREFIX("xmemdup"), WHOLE("xasprintf"),
	WHOLE("xvasprintf"), PREFIX("x2realloc"), PREFIX("xpalloc"), PREFIX("xnmalloc"),
	PREFIX("xnrealloc"), PREFIX("xcharalloc"), PREFIX("ximalloc"), PREFIX("xirealloc"),
	PREFIX("xizalloc"), PREFIX("xicalloc"), PREFIX("xireallocarray"), PREFIX("xreallocarray"),
	PREFIX("xzmalloc"), PREFIX("safe_malloc"), PREFIX("checked_malloc"),
	PREFIX("do_xmalloc"), PREFIX("do_xmallocz"), PREFIX("zmalloc"), PREFIX("zcalloc"),
	PREFIX("zrealloc"), PREFIX("ztrymalloc"), PREFIX("ztrycalloc"), PREFIX("ztryrealloc"),
	WHOLE("zstrdup"), PREFIX("sqlite3MemMalloc"), PREFIX("sqlite3MemRealloc"),
	WHOLE("sqlite3Malloc"), WHOLE("sqlite3MallocZero"), WHOLE("sqlite3Realloc"),
	WHOLE("sqlite3_malloc"), WHOLE("sqlite3_malloc64"), WHOLE("sqlite3_realloc"),
	WHOLE("sqlite3_realloc64"), WHOLE("sqlite3DbMallocRaw"), WHOLE("sqlite3DbMallocRawNN"),
	WHOLE("sqlite3DbMallocZero"), WHOLE("sqlite3DbRealloc"), WHOLE("sqlite3DbStrDup"),
	WHOLE("sqlite3DbStrNDup"), WHOLE("dbMallocRawFinish"), WHOLE("dbReallocFinish"),
	WHOLE("CRYPTO_malloc"), WHOLE("CRYPTO_zalloc"), WHOLE("CRYPTO_realloc"),
	WHOLE("CRYPTO_strdup"), WHOLE("CRYPTO_memdup"), END,
};

static const struct wrapper_row glib[] = {
	WHOLE("g_malloc"), WHOLE("g_malloc0"), WHOLE("g_malloc_n"), WHOLE("g_malloc0_n"),
	WHOLE("g_realloc"), WHOLE("g_realloc_n"), WHOLE("g_try_malloc"), WHOLE("g_try_malloc0"),
	WHOLE("g_try_malloc_n"), WHOLE("g_try_realloc"), WHOLE("g_aligned_alloc"),
	WHOLE("g_strdup"), WHOLE("g_strndup"), WHOLE("g_memdup"), WHOLE("g_memdup2"),
	WHOLE("g_strdup_printf"), WHOLE("g_strdup_vprintf"), WHOLE("g_slice_alloc"),
	WHOLE("g_slice_alloc0"), WHOLE("g_slice_copy"), END,
};

static const struct wrapper_row python[] = {
	PREFIX("_PyMem_"), PREFIX("PyMem_"), PREFIX("PyObject_Malloc"), PREFIX("PyObject_Calloc"),
	PREFIX("PyObject_Realloc"), PREFIX("_PyObject_Malloc"), PREFIX("_PyObject_Calloc"),
	PREFIX("_PyObject_Realloc"), WHOLE("_PyObject_Arena"), WHOLE("new_arena"),
	WHOLE("allocate_from_new_pool"), WHOLE("pymalloc_alloc"), END,
};

static const struct wrapper_row cxx[] = {
	PREFIX("operator new"), PREFIX("operator delete"), PREFIX("std::"), PREFIX("__gnu_cxx::"),
	PREFIX("__cxxabiv1::"), WHOLE("__cxa_allocate_exception"), PREFIX("boost::container::"),
	END,
};

static const struct wrapper_row rust[] = {
	PREFIX("__rust_"), PREFIX("__rdl_"), PREFIX("__rg_"), PREFIX("alloc::"), PREFIX("<alloc::"),
	PREFIX("core::"), PREFIX("<core::"), PREFIX("hashbrown::"), PREFIX("<hashbrown::"), END,
};

static const struct wrapper_group groups[] = {
	{ "the allocation family", allocation_family, false },
	{ "libc: copies and buffers made for the caller", libc_copies, false },
	{ "C programs' wrappers", c_wrappers, false },
	{ "GLib", glib, false },
	{ "CPython's allocators", python, false },
	{ "C++: operator new, the standard library", cxx, false },
	{ "Rust: the allocator, collections of the standard library", rust, true },
};

#define GROUPS (sizeof(groups) / sizeof(*groups))

/*
 * Finds the function's own name in a demangled one: behind the last space that
 * is in no brackets (what precedes it is a return type), up to the parameters.
 *
 *	void std::vector<int, std::allocator<int> >::reserve(unsigned long)
 *	     ^^^^^^^^^^^ compared from here
 */
static const char *own_name(const char *function)
{
	const char *name = function;
	int depth = 0;

	for (const char *at = function; *at; at++) {
		if (!strncmp(at, "operator", 8))
			break;
		if (*at == '(' && depth == 0 && strncmp(at, "(anonymous", 10))
			break;
		if (*at == '<' || *at == '(')
			depth++;
		else if ((*at == '>' || *at == ')') && depth > 0)
			depth--;
		else if (*at == ' ' && depth == 0)
			name = at + 1;
	}
	return name;
}

static bool row_matches(const struct wrapper_row *row, const char *name)
{
	size_t length = strlen(row->name);

	if (strncmp(name, row->name, length))
		return false;
	return row->match == MATCH_PREFIX || !name[length] || name[length] == '(' ||
	       name[length] == '.' || name[length] == '@';
}

static bool is_rust(const char *function, const char *file)
{
	size_t length = file ? strlen(file) : 0;

	if (file)
		return length > 3 && !strcmp(file + length - 3, ".rs");
	return !strchr(function, '('); /* Rust's names have no parameters */
}

bool wrapper_matches(const char *function, const char *file, const struct pattern *more)
{
	const char *name;

	if (!function)
		return false;
	if (pattern_matches(more, function))
		return true;
	name = own_name(function);
	for (size_t g = 0; g < GROUPS; g++) {
		if (groups[g].is_rust && !is_rust(function, file))
			continue;
		for (const struct wrapper_row *row = groups[g].rows; row->name; row++)
			if (row_matches(row, name))
				return true;
	}
	return false;
}

void wrapper_print(FILE *out)
{
	fputs("Functions that are passed over when a call site is looked for\n"
	      "(NAME* = every name that begins so; --wrappers RE adds to them,\n"
	      "--keep-wrappers passes over none):\n",
	      out);
	for (size_t g = 0; g < GROUPS; g++) {
		fprintf(out, "\n%s\n", groups[g].words);
		for (const struct wrapper_row *row = groups[g].rows; row->name; row++)
			fprintf(out, "  %s%s\n", row->name, row->match == MATCH_PREFIX ? "*" : "");
	}
}
