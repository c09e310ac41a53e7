// SPDX-License-Identifier: MIT
// A BPF program without variables: pahole's ELF library does not apply the
// relocations of their addresses.
typedef unsigned long long u64;

enum verdict { DROP, PASS = 7, ASK = -1 };

struct node {
	struct node *next;
	u64 key;
	unsigned flags : 3, rest : 29;
	union {
		char name[16];
		const volatile void *data;
	};
};

static __attribute__((noinline)) int find(struct node *n, u64 key, enum verdict otherwise)
{
	for (int i = 0; i < 8 && n; i++, n = n->next)
		if (n->key == key)
			return n->flags;
	return otherwise;
}

__attribute__((section("xdp"))) int program(struct node *ctx)
{
	return find(ctx, 3, PASS) + find(ctx->next, ctx->key, DROP);
}
