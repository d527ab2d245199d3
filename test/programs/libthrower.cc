/*
 * A plug-in in C++ for a program in C (plugin_host.c), which has no operator new
 * and no exceptions of its own.
 */
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

extern "C" int plugin_throw(int levels);
extern "C" int plugin_exhaust(void);
extern "C" void *plugin_new(std::size_t size);
extern "C" void plugin_delete(void *block);

__attribute__((noinline)) static void site_thrower(int levels)
{
	std::unique_ptr<char[]> block(new char[50]);

	__asm__ volatile("" : : "r"(block.get()) : "memory");
	if (levels == 0)
		throw std::runtime_error("an end");
	site_thrower(levels - 1);
	__asm__ volatile("" : : "r"(block.get()) : "memory");
}

/* Caught as what it is, beyond so many frames that own a block. */
int plugin_throw(int levels)
{
	try {
		site_thrower(levels);
	} catch (const std::runtime_error &error) {
		return error.what() == std::string("an end");
	}
	return 0;
}

int plugin_exhaust(void)
{
	volatile std::size_t huge = ~std::size_t(0) / 2;

	try {
		::operator delete(::operator new(huge));
	} catch (const std::bad_alloc &) {
		return ::operator new(huge, std::nothrow) == nullptr;
	}
	return 0;
}

__attribute__((noinline)) void *plugin_new(std::size_t size)
{
	void *block = ::operator new(size);

	__asm__ volatile("" : "+r"(block)::"memory");
	return block;
}

void plugin_delete(void *block)
{
	::operator delete(block);
}
