/* The version of memprof, of both halves. */
#ifndef MEMPROF_VERSION_H
#define MEMPROF_VERSION_H

#define MEMPROF_VERSION "0.1.0"

#endif
