/*
 * Loads a plug-in, lets it allocate, drops it and replaces its file by another
 * one, as an update would: whoever reads the trace later finds no such file.
 *
 *	forgets PLUGIN ROUNDS
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *run_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void *(*work)(size_t) = plugin ? (void *(*)(size_t))dlsym(plugin, "plugin_work") : NULL;
	void *block;

	if (!work)
		abort();
	block = work(1000);
	if (dlclose(plugin))
		abort();
	return block;
}

int main(int argc, char **argv)
{
	void *kept = NULL;
	FILE *file;

	if (argc != 3)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		free(kept);
		kept = run_plugin(argv[1]);
	}
	if (dlclose(dlopen(NULL, RTLD_NOW)))
		abort();
	remove(argv[1]);
	file = fopen(argv[1], "w");
	return !file || fclose(file) || !kept;
}
