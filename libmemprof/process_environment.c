/*
 * What programs started by this one find in their environment: not us, where
 * children are not to be followed (MEMPROF_CHILDREN=0), and before an exec how
 * many programs this pid has been. All in room that the caller gives.
 */
#define _GNU_SOURCE
#include <string.h>

#include "os.h"
#include "process.h"
#include "process_state.h"
#include "settings.h"

#define OUR_NAME "libmemprof.so"
#define IMAGE_BYTES 96

extern char **environ;

static const char preload[] = "LD_PRELOAD=";
static const char image[] = "MEMPROF_IMAGE=";

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* Is the path of @length bytes the library's? */
static bool is_ours(const char *path, size_t length)
{
	const size_t name = sizeof(OUR_NAME) - 1;

	return length >= name && !memcmp(path + length - name, OUR_NAME, name) &&
	       (length == name || path[length - name - 1] == '/');
}

/* Copies the list of libraries without ours; returns the length. */
static size_t copy_without_us(const char *list, char *out)
{
	size_t length = 0, entry;

	for (; *list; list += entry) {
		for (; is_separator(*list); list++)
			;
		for (entry = 0; list[entry] && !is_separator(list[entry]); entry++)
			;
		if (!entry || is_ours(list, entry))
			continue;
		if (length)
			out[length++] = ':';
		memcpy(out + length, list, entry);
		length += entry;
	}
	out[length] = '\0';
	return length;
}

static char *const *find(char *const envp[], const char *begin)
{
	for (; envp && *envp; envp++)
		if (text_begins(*envp, begin))
			return envp;
	return NULL;
}

static bool counts_images(bool is_exec)
{
	return is_exec && process_state_is_recording();
}

size_t process_environment_room(char *const envp[], bool is_exec)
{
	bool follows = settings_get()->follow_children;
	char *const *ours = follows ? NULL : find(envp, preload);
	size_t count = 0;

	if (!envp || (!ours && !counts_images(is_exec) && !find(envp, image)))
		return 0;
	while (envp[count])
		count++;
	return (count + 2) * sizeof(char *) + IMAGE_BYTES + (ours ? strlen(*ours) + 1 : 0);
}

char **process_environment_copy(char *const envp[], bool is_exec, void *room, size_t bytes)
{
	bool follows = settings_get()->follow_children;
	char **list = room, **to = list;
	char *text;
	size_t count = 0;

	while (envp[count])
		count++;
	text = (char *)room + (count + 2) * sizeof(char *);
	if (counts_images(is_exec) && (size_t)(text - (char *)room) + IMAGE_BYTES <= bytes) {
		*to++ = text;
		text += process_state_image_text(text, IMAGE_BYTES) + 1;
	}
	for (; *envp; envp++) {
		if (text_begins(*envp, image))
			continue;
		*to = *envp;
		if (!follows && text_begins(*envp, preload)) {
			memcpy(text, preload, sizeof(preload) - 1);
			if (!copy_without_us(*envp + sizeof(preload) - 1,
					     text + sizeof(preload) - 1))
				continue;
			*to = text;
			text += strlen(text) + 1;
		}
		to++;
	}
	*to = NULL;
	return list;
}

static void remove_entry(char **entry)
{
	for (; *entry; entry++)
		*entry = entry[1];
}

static void remove_preload(void)
{
	char **entry = (char **)find(environ, preload);
	char *list = entry ? os_map(strlen(*entry) + 1) : NULL;

	if (!list)
		return;
	memcpy(list, preload, sizeof(preload) - 1);
	if (copy_without_us(*entry + sizeof(preload) - 1, list + sizeof(preload) - 1))
		*entry = list;
	else
		remove_entry(entry);
}

/*
 * The program's own environment loses what we put there for ourselves, and with
 * MEMPROF_CHILDREN=0 us as well: libc starts programs (system, popen) without
 * passing through any hook.
 */
__attribute__((constructor)) static void clean_environment(void)
{
	const struct settings *settings = settings_get();
	char **entry = (char **)find(environ, image);

	if (entry)
		remove_entry(entry);
	if (!settings->follow_children)
		remove_preload();
}
