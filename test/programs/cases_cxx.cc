/* FLAGS: -Wno-unused-result */
/*
 * What cases.c does not cover: C++. Facts are printed as there.
 *
 *	cases_cxx NAME
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

static void keep(void *block)
{
	__asm__ volatile("" : : "r"(block) : "memory");
}

struct alignas(64) wide {
	char bytes[128];
};

/* ---- every form of new is one allocation ------------------------------------------- */

__attribute__((noinline)) static void site_new()
{
	int *one = new int(1);
	char *many = new char[10];
	wide *aligned = new wide;
	int *quiet = new (std::nothrow) int(2);

	keep(one), keep(many), keep(aligned), keep(quiet);
	delete one;
	delete[] many;
	delete aligned;
	::operator delete(quiet, std::nothrow);
}

static void operators()
{
	site_new();
	std::puts("site site_new() 4 146 0 0");
}

__attribute__((noinline)) static int site_bad()
{
	volatile std::size_t huge = ~std::size_t(0) / 2;
	int caught = 0;

	try {
		keep(::operator new(huge));
	} catch (const std::bad_alloc &) {
		caught++;
	}
	return caught + (::operator new(huge, std::nothrow) == nullptr);
}

static void bad_alloc()
{
	std::printf("%d refused\n", site_bad());
}

/* ---- exceptions through frames that own blocks ----------------------------------------- */

__attribute__((noinline)) static void site_thrower(int levels)
{
	std::unique_ptr<char[]> block(new char[50]);

	keep(block.get());
	if (levels == 0)
		throw std::runtime_error("an end");
	site_thrower(levels - 1);
	keep(block.get());
}

static void exceptions()
{
	int caught = 0;

	for (int i = 0; i < 100; i++) {
		try {
			site_thrower(i % 10);
		} catch (const std::exception &) {
			caught++;
		}
	}
	std::printf("%d caught\n", caught);
}

/* ---- objects that outlive main ------------------------------------------------------------ */

__attribute__((noinline)) static char *site_last(std::size_t size)
{
	char *block = new char[size];

	keep(block);
	return block;
}

struct late {
	char *block = site_last(70);

	~late()
	{
		delete[] block;
		keep(site_last(71));
	}
};
static late lives_long;

static void destructors()
{
	keep(lives_long.block);
}

static const struct {
	const char *name;
	void (*run)();
} cases[] = {
	{ "operators", operators },
	{ "bad_alloc", bad_alloc },
	{ "exceptions", exceptions },
	{ "destructors", destructors },
};

int main(int argc, char **argv)
{
	for (const auto &one : cases)
		if (argc > 1 && !std::strcmp(one.name, argv[1])) {
			one.run();
			return 0;
		}
	return 2;
}
