/*
 * See preload_check.h.
 */
#include "cmd/preload_check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- finding it ---- */

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_program(const char *program, char *path, size_t size)
{
	const char *search = getenv("PATH"), *end;

	if (strchr(program, '/')) {
		snprintf(path, size, "%s", program);
		return is_program(path);
	}
	if (!search)
		search = "/bin:/usr/bin";
	for (;; search = end + 1) {
		end = strchrnul(search, ':');
		snprintf(path, size, "%.*s%s%s", (int)(end - search), search,
			 end > search ? "/" : "./", program);
		if (is_program(path))
			return true;
		if (!*end)
			break;
	}
	path[0] = '\0';
	return false;
}

/* "#!/usr/bin/env python3": what runs is env's argument, found by PATH. */
static bool find_interpreter(const char *line, char *path, size_t size)
{
	char text[256], *first, *second, *rest;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
	first = strtok_r(text, " \t", &rest);
	second = strtok_r(NULL, " \t", &rest);
	if (!first)
		return false;
	if (second && !strcmp(strrchr(first, '/') ? strrchr(first, '/') + 1 : first, "env"))
		return find_program(second, path, size);
	return find_program(first, path, size);
}

/* ---- looking into it ---- */

static bool read_at(int fd, off_t at, void *to, size_t bytes)
{
	return pread(fd, to, bytes, at) == (ssize_t)bytes;
}

static const char *machine_words(unsigned machine)
{
	return machine == EM_AARCH64 ? "ARM" : machine == EM_386 ? "32-bit x86" :
	       machine == EM_X86_64  ? "x86-64" : "another machine";
}

/* The loader that the program asks for; "" = none: it is static. */
static bool read_loader(int fd, const Elf64_Ehdr *head, char *loader, size_t size)
{
	Elf64_Phdr segment;

	loader[0] = '\0';
	for (unsigned i = 0; i < head->e_phnum; i++) {
		if (!read_at(fd, (off_t)(head->e_phoff + i * sizeof(segment)), &segment,
			     sizeof(segment)))
			return false;
		if (segment.p_type != PT_INTERP)
			continue;
		size = segment.p_filesz < size ? segment.p_filesz : size - 1;
		if (!read_at(fd, (off_t)segment.p_offset, loader, size))
			return false;
		loader[size] = '\0';
		return true;
	}
	return true;
}

#ifdef __x86_64__
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

static void check_elf(int fd, struct preload_check *check)
{
	Elf64_Ehdr head = { 0 };
	char loader[256];

	if (!read_at(fd, 0, &head, sizeof(head)) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_machine != OWN_MACHINE) {
		snprintf(check->why_not, sizeof(check->why_not),
			 "is a program for %s, and libmemprof.so here is for %s",
			 head.e_ident[EI_CLASS] == ELFCLASS32 ? "32 bits" :
								machine_words(head.e_machine),
			 machine_words(OWN_MACHINE));
		return;
	}
	if (!read_loader(fd, &head, loader, sizeof(loader)))
		return;
	if (!loader[0]) {
		snprintf(check->why_not, sizeof(check->why_not),
			 "is statically linked: nothing can be preloaded into it. Link it "
			 "dynamically to record it");
		check->keep_in_environment = true;
	} else if (strstr(loader, "musl")) {
		snprintf(check->why_not, sizeof(check->why_not),
			 "is made for musl (%s); libmemprof.so needs glibc", loader);
	}
}

static void check_rights(int fd, struct preload_check *check)
{
	struct stat st;

	if (fstat(fd, &st) || check->why_not[0])
		return;
	if (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid()))
		snprintf(check->why_not, sizeof(check->why_not),
			 "takes other rights (setuid or setgid): the loader refuses a preload. "
			 "Run it as its owner, or a copy without that bit");
}

static void check_file(struct preload_check *check, int depth)
{
	char head[256] = "", interpreter[sizeof(check->path)];
	int fd = open(check->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return; /* may be run, may not be read: nothing to say */
	if (pread(fd, head, sizeof(head) - 1, 0) < 4) {
		close(fd);
		return;
	}
	if (!memcmp(head, ELFMAG, SELFMAG)) {
		check_elf(fd, check);
		check_rights(fd, check);
	} else if (head[0] == '#' && head[1] == '!' && depth < 4 &&
		   find_interpreter(head + 2, interpreter, sizeof(interpreter))) {
		memcpy(check->path, interpreter, sizeof(interpreter));
		check_file(check, depth + 1);
	}
	close(fd);
}

void preload_check(const char *program, struct preload_check *check)
{
	memset(check, 0, sizeof(*check));
	if (find_program(program, check->path, sizeof(check->path)))
		check_file(check, 0);
}
