/* LINK: analyzer */
/*
 * Which functions a call site is never in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/wrapper.h"

static const struct pattern none;

static bool passes(const char *function, const char *file)
{
	return wrapper_matches(function, file, &none);
}

static void the_allocation_family_is_passed_over(void **state)
{
	(void)state;
	assert_true(passes("malloc", NULL));
	assert_true(passes("malloc.part.0", NULL));
	assert_true(passes("operator new(unsigned long)", NULL));
	assert_true(passes("operator new[](unsigned long, std::nothrow_t const&)", NULL));
	assert_true(passes("strdup", NULL));
	assert_true(passes("xmalloc", "lib.c"));
	assert_true(passes("g_malloc0", NULL));
	assert_false(passes("mallocator", NULL));
	assert_false(passes("g_malloc_everything", NULL));
	assert_false(passes(NULL, NULL));
}

static void the_standard_library_is_told_by_the_functions_own_name(void **state)
{
	(void)state;
	assert_true(passes("void std::vector<int, std::allocator<int> >::reserve(unsigned long)",
			   "/usr/include/c++/12/bits/vector.tcc"));
	assert_true(passes("std::__cxx11::basic_string<char>::_M_create(unsigned long&)", NULL));
	assert_true(passes("__gnu_cxx::new_allocator<Node>::allocate(unsigned long, void const*)",
			   NULL));
	/* A return type or an argument of std:: does not make it std's. */
	assert_false(
	    passes("std::vector<int, std::allocator<int> > load<int>(char const*)", "a.cc"));
	assert_false(passes("Cache::put(std::string const&)", "a.cc"));
	assert_false(passes("(anonymous namespace)::make(std::string)", "a.cc"));
	assert_false(passes("Pool::operator()(int) const", "a.cc"));
}

static void rust_is_told_from_cxx_by_its_files(void **state)
{
	(void)state;
	assert_true(passes("alloc::raw_vec::finish_grow", "/rustc/x/library/alloc/src/raw_vec.rs"));
	assert_true(passes("__rust_alloc", NULL));
	assert_false(passes("core::Engine::load(int)", "engine.cc"));
	assert_false(passes("core::Engine::load(int)", NULL));
}

static void users_add_functions_of_their_own(void **state)
{
	struct pattern more = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(pattern_add(&more, "^my_(c)?alloc$", &err), 0);
	assert_true(wrapper_matches("my_calloc", NULL, &more));
	assert_false(wrapper_matches("my_alloc_table", NULL, &more));
	assert_int_equal(pattern_add(&more, "(", &err), ERROR_USAGE);
	pattern_release(&more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_allocation_family_is_passed_over),
		cmocka_unit_test(the_standard_library_is_told_by_the_functions_own_name),
		cmocka_unit_test(rust_is_told_from_cxx_by_its_files),
		cmocka_unit_test(users_add_functions_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
