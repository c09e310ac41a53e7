// SPDX-License-Identifier: MIT
// What the sources of the golden files share.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define NOINLINE __attribute__((noinline))
#define USED __attribute__((used))
#define PERCPU __attribute__((used, section(".data..percpu")))

enum level { LOWEST = -3, MIDDLE, HIGHEST = 7 };

struct list_head {
	struct list_head *next, *prev;
};

struct node {
	struct list_head list;
	struct node *parent;
	int value;
};

static inline int shared_inline(struct node *node, int twice)
{
	return twice ? node->value * 2 : node->value;
}

int variadic(const char *format, ...);
int conflict(const void *data, int n);
