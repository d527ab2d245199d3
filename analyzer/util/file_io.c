/*
 * See file_io.h.
 */
#include "util/file_io.h"

#include <errno.h>
#include <unistd.h>

size_t file_read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

bool file_write_at(int fd, const void *from, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t put = pwrite(fd, (const char *)from + done, bytes - done,
				     (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (!put)
			errno = EIO;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}
