/* LINK: analyzer */
/*
 * Names as their authors wrote them, and as people shorten them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

static void expect(const char *mangled, const char *wanted)
{
	char *name = demangle(mangled);

	if (wanted) {
		assert_non_null(name);
		assert_string_equal(name, wanted);
	} else {
		assert_null(name);
	}
	free(name);
}

static void expect_short(const char *name, const char *wanted)
{
	char *short_name = demangle_shorten(name);

	assert_non_null(short_name);
	assert_string_equal(short_name, wanted);
	free(short_name);
}

static void demangles_cxx_and_both_rust_schemes(void **state)
{
	(void)state;
	expect("_ZN12_GLOBAL__N_19hidden_fnEv", "(anonymous namespace)::hidden_fn()");
	expect("_ZNK2FnclEi", "Fn::operator()(int) const");
	expect("_ZN9warehouse8leak_all17h0123456789abcdefE", "warehouse::leak_all");
	expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void a_clone_has_the_name_of_its_function(void **state)
{
	(void)state;
	expect("_ZNK2FnclEi.cold", "Fn::operator()(int) const");
	expect("_ZN9warehouse8leak_all17h0123456789abcdefE.llvm.123", "warehouse::leak_all");
}

static void leaves_plain_and_broken_names_alone(void **state)
{
	(void)state;
	expect("main", NULL);
	expect("", NULL);
	expect("_Z", NULL);
	expect("_ZN", NULL);
	expect("_R", NULL);
	expect("_ZNSt6vectorIiE", NULL);
}

static void names_beyond_the_limits_are_not_demangled(void **state)
{
	size_t length = 200000;
	char *name = malloc(length + 1);

	(void)state;
	assert_non_null(name);
	memcpy(name, "_Z1f", 4);
	memset(name + 4, 'P', length - 4); /* a pointer to a pointer to ... */
	name[length] = 0;
	expect(name, NULL);
	name[DEMANGLE_INPUT_MAX - 1] = 'i';
	name[DEMANGLE_INPUT_MAX] = 0;
	free(demangle(name));
	free(name);
}

static void a_short_name_can_not_stand_for_a_huge_one(void **state)
{
	/* Each type names the one before it twice: 2^36 of them in all. */
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fSt4pairIiiE", *at = name + strlen(name);

	(void)state;
	for (int i = 0; i < 36; i++)
		at += sprintf(at, "S_IS%c_S%c_E", digits[i], digits[i]);
	free(demangle(name)); /* it comes back: that is the promise */
}

static void shortens_as_people_do(void **state)
{
	(void)state;
	expect_short("main", "main");
	expect_short("std::vector<int, std::allocator<int> >::push_back(int const&)",
		     "std::vector<...>::push_back");
	expect_short("void std::sort<int*>(int*, int*)", "std::sort<...>");
	expect_short("Fn::operator()(int) const", "Fn::operator()");
	expect_short("(anonymous namespace)::hidden_fn()", "(anonymous namespace)::hidden_fn");
	expect_short("std::ostream& operator<< <char>(std::ostream&, char)",
		     "operator<< <...>");
	expect_short("bool operator< <int>(int)", "operator< <...>");
	expect_short("main::{lambda(int)#1}::operator()(int) const",
		     "main::{lambda(int)#1}::operator()");
	expect_short("Box::operator->() const", "Box::operator->");
	expect_short("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		     "<alloc::vec::Vec<...> as core::ops::Drop>::drop");
	expect_short("operator new(unsigned long)", "operator new");
	expect_short("Foo::operator bool() const", "Foo::operator bool");
}

static void shortening_takes_any_text(void **state)
{
	static const char *const odd[] = { "", "<", ">", "(", ")", "<<<<", "((((", "a<b", "a(b",
					   "operator", "operator<", " ", "a ", " a<", ")(", "->",
					   "x<->y>", "(anonymous", "f(a)(b)", "a<(b>)" };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		free(demangle_shorten(odd[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangles_cxx_and_both_rust_schemes),
		cmocka_unit_test(a_clone_has_the_name_of_its_function),
		cmocka_unit_test(leaves_plain_and_broken_names_alone),
		cmocka_unit_test(names_beyond_the_limits_are_not_demangled),
		cmocka_unit_test(a_short_name_can_not_stand_for_a_huge_one),
		cmocka_unit_test(shortens_as_people_do),
		cmocka_unit_test(shortening_takes_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
