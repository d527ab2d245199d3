/*
 * See waiting.h. A ring in the order of arrival, its entries chained by the hash
 * of their address, oldest first.
 */
#include "trace/waiting.h"

#include "util/hash_map.h"

static uint16_t *bucket_of(struct waiting *waiting, uint64_t address)
{
	return &waiting->buckets[hash_u64(address) >> 32 & (WAITING_BUCKETS - 1)];
}

void waiting_add(struct waiting *waiting, const struct raw_event *event)
{
	uint32_t at = (waiting->first + waiting->used++) % WAITING_ROOM;
	uint16_t *link = bucket_of(waiting, event->address);

	while (*link)
		link = &waiting->entries[*link - 1].next;
	*link = (uint16_t)(at + 1);
	waiting->entries[at] = (struct waiting_entry){.event = *event};
	waiting->count++;
}

/* Takes the entry behind @link out of its chain, and the ring's oldest places
 * back as far as they are gone. */
static void take(struct waiting *waiting, uint16_t *link, struct raw_event *event)
{
	struct waiting_entry *entry = &waiting->entries[*link - 1];

	*event = entry->event;
	*link = entry->next;
	entry->is_gone = true;
	waiting->count--;
	while (waiting->used && waiting->entries[waiting->first].is_gone) {
		waiting->first = (waiting->first + 1) % WAITING_ROOM;
		waiting->used--;
	}
}

bool waiting_take(struct waiting *waiting, uint64_t address, struct raw_event *event)
{
	uint16_t *link = bucket_of(waiting, address);

	while (*link && waiting->entries[*link - 1].event.address != address)
		link = &waiting->entries[*link - 1].next;
	if (!*link)
		return false;
	take(waiting, link, event);
	return true;
}

bool waiting_take_before(struct waiting *waiting, uint64_t time, struct raw_event *event)
{
	const struct waiting_entry *oldest = &waiting->entries[waiting->first];
	uint16_t *link;

	if (!waiting->count || oldest->event.time >= time)
		return false;
	link = bucket_of(waiting, oldest->event.address);
	while (*link - 1u != waiting->first)
		link = &waiting->entries[*link - 1].next;
	take(waiting, link, event);
	return true;
}
