/*
 * Hostile call frame information: the input is a module that begins with its
 * .eh_frame_hdr; its first bytes also choose the places asked for. Nothing outside
 * the input may be read, and every answer takes bounded time.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../../libmemprof/cfi.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *module_bytes = malloc(size + !size); /* of this very size, for ASan */
	struct cfi_module module;
	struct cfi_row row;

	memcpy(module_bytes, data, size);
	module.start = module.eh_frame_hdr = (uintptr_t)module_bytes;
	module.end = module.start + size;
	for (unsigned distance = 0; distance < 0x2000; distance += 0x7d)
		cfi_find(&module, module.start + distance, &row);
	free(module_bytes);
	return 0;
}
