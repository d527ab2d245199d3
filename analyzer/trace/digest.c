/*
 * See digest.h. Entries lie one behind the other as they are in memory: whoever
 * keeps them does so for the same program on the same machine.
 */
#include "trace/digest.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

void digest_add(struct digest *digest, const struct digest_entry *entry, const uint8_t *payload)
{
	size_t need = digest->count + sizeof(*entry) + entry->bytes;

	if (digest->is_off)
		return;
	if (need > digest->room) {
		digest->room = need * 2;
		digest->bytes = memory_resize(digest->bytes, digest->room, 1);
	}
	memcpy(digest->bytes + digest->count, entry, sizeof(*entry));
	if (entry->bytes)
		memcpy(digest->bytes + digest->count + sizeof(*entry), payload, entry->bytes);
	digest->count = need;
}

bool digest_next(struct digest *digest, struct digest_entry *entry, const uint8_t **payload)
{
	if (digest->count - digest->at < sizeof(*entry))
		return false;
	memcpy(entry, digest->bytes + digest->at, sizeof(*entry));
	digest->at += sizeof(*entry);
	if (entry->bytes > digest->count - digest->at) {
		digest->at = digest->count;
		return false;
	}
	*payload = digest->bytes + digest->at;
	digest->at += entry->bytes;
	return true;
}

void digest_tell(struct digest *digest, uint8_t *bytes, size_t count)
{
	digest_release(digest);
	*digest = (struct digest){.bytes = bytes, .count = count, .is_told = true};
}

void digest_release(struct digest *digest)
{
	free(digest->bytes);
	*digest = (struct digest){0};
}
