/*
 * The integer code of the trace: a prefix varint. The number of zero bits at
 * the low end of the first byte says how many bytes follow it, so one look at
 * one byte gives the length, and both directions are one 8-byte access:
 *
 *	xxxxxxx1                       7 bits, 1 byte
 *	xxxxxx10 xxxxxxxx             14 bits, 2 bytes
 *	...
 *	10000000 (7 bytes)            56 bits, 8 bytes
 *	00000000 (8 bytes)            64 bits, 9 bytes
 *
 * All integers are little endian.
 */
#ifndef MEMPROF_VARINT_H
#define MEMPROF_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_BYTES_MAX 9

/*
 * Stores @value at @at and returns the first byte behind it (__builtin_: one
 * store even where the build says -fno-builtin). Up to 9 bytes at
 * @at are written whatever the length is: the caller keeps that much room.
 */
static inline uint8_t *varint_store(uint8_t *at, uint64_t value)
{
	/* bits / 7, rounded up, without a division: bits * 9 / 64 does it up to 63 */
	unsigned bytes = (9 * (unsigned)(63 - __builtin_clzll(value | 1)) + 73) / 64;

	if (__builtin_expect(bytes > 8, 0)) {
		at[0] = 0;
		__builtin_memcpy(at + 1, &value, 8);
		return at + 9;
	}
	value = (value << bytes) | (1ull << (bytes - 1));
	__builtin_memcpy(at, &value, 8);
	return at + bytes;
}

/*
 * Reads one integer from @at, before @end, into *@value. Returns the first
 * byte behind it, or NULL when the integer would reach beyond @end.
 */
static inline const uint8_t *varint_load(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	uint64_t word = 0;
	unsigned bytes;

	if (at >= end)
		return NULL;
	bytes = at[0] ? (unsigned)__builtin_ctz(at[0]) + 1 : 9;
	if ((uint64_t)(end - at) < bytes)
		return NULL;
	if (bytes == 9) {
		__builtin_memcpy(value, at + 1, 8);
		return at + 9;
	}
	if (__builtin_expect(end - at >= 8, 1))
		__builtin_memcpy(&word, at, 8);
	else
		__builtin_memcpy(&word, at, bytes);
	word >>= bytes;
	*value = word & (~0ull >> (64 - 7 * bytes));
	return at + bytes;
}

/* Signed numbers near zero as small unsigned ones: 0, -1, 1, -2 ... */
static inline uint64_t zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t code)
{
	return (int64_t)(code >> 1) ^ -(int64_t)(code & 1);
}

#endif
