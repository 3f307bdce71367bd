/* Two texts with the same length and hash: see XXH3_len_9to16_64b() in xxhash.h. */
#ifndef JTOOL_TESTS_SAME_HASH_H
#define JTOOL_TESTS_SAME_HASH_H

static const char *const same_hash[] = {
	"\xb9\x39\x42\xea\x7b\x73\x82\x67\x86\x2b\xa3\xf8\x97\xd4\x72\xae",
	"\xb8\x39\x42\xea\x7b\x73\x82\x67\xe4\xee\x0c\x71\x6d\x88\x44\xaf",
};

#endif
