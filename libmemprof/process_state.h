/* What process_environment.c needs to know of the process that process.c keeps. */
#ifndef LIBMEMPROF_PROCESS_STATE_H
#define LIBMEMPROF_PROCESS_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* Does this very process (no vfork child of it) have a trace? */
bool process_state_is_recording(void);

/* "MEMPROF_IMAGE=COUNT PID START"; returns the length. */
size_t process_state_image_text(char *out, size_t room);

#endif
