/* FLAGS: -ldl -fno-builtin */
/*
 * A program in C that knows nothing of C++ and loads plug-ins in C++ for itself
 * (RTLD_LOCAL): they throw, run out of memory, and go. Facts as in cases.c.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 20

struct plugin {
	int (*throw)(int levels);
	int (*exhaust)(void);
	void *(*new)(size_t size);
	void (*delete)(void *block);
};

static void *symbol(void *handle, const char *name)
{
	void *found = handle ? dlsym(handle, name) : NULL;

	if (!found) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(1);
	}
	return found;
}

static void use(const struct plugin *plugin, int round, int *good)
{
	void *block = plugin->new(60);

	*good += plugin->throw(round % 7) + plugin->exhaust();
	if (round)
		plugin->delete(block);
}

int main(int argc, char **argv)
{
	char path[4096];
	int good = 0;

	snprintf(path, sizeof(path), "%s/libthrower.so", argc > 1 ? argv[1] : dirname(argv[0]));
	for (int round = 0; round < ROUNDS; round++) {
		void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		struct plugin plugin = {
			(int (*)(int))symbol(handle, "plugin_throw"),
			(int (*)(void))symbol(handle, "plugin_exhaust"),
			(void *(*)(size_t))symbol(handle, "plugin_new"),
			(void (*)(void *))symbol(handle, "plugin_delete"),
		};

		use(&plugin, round, &good);
		dlclose(handle);
	}
	printf("%d good\n", good);
	printf("site plugin_new %d %d 1 60\n", ROUNDS, ROUNDS * 60);
	return good == 2 * ROUNDS ? 0 : 1;
}
