// SPDX-License-Identifier: MIT
// Functions: what is taken, what is left out, and why.
#include "shared.h"

struct two { long a, b; };
struct big { long a[5]; };
struct __attribute__((packed)) odd { char c; int i; };

int use_types(void *, const void *, void *);
struct node root;
volatile int out;

// A parameter is constant in all calls, or unused: the compiler may make
// clones without it.
NOINLINE static int cloned(int n, int always, int unused)
{
	for (int i = 0; i < n; i++)
		out += always * i;
	return out;
}

NOINLINE static int by_value(struct two t, struct big b) { return t.b + b.a[3]; }

NOINLINE static int many(int a, int b, int c, int d, int e, int f, int g, struct odd last)
{
	return out = a + b + c + d + e + f + g + last.i;
}

NOINLINE static double floating(double x, float y, int n) { return x * y + n; }

NOINLINE static u64 wide_argument(int a, u64 b, int c) { return a + b + c; }

NOINLINE USED static int same_name(void) { return out + 1; }

int variadic(const char *format, ...) { return format[0] + out; }

int conflict(const void *data, int n) { return n + (data != 0) + out; }

int not_inlined(struct node *node) { return shared_inline(node, out); }

int unnamed_parameter(int, int b);
int unnamed_parameter(int a __attribute__((unused)), int b) { return b; }

int caller(int n)
{
	struct two t = { n, n + 1 };
	struct big b = { { n } };
	struct odd o = { 1, n };
	int local_inline = shared_inline(&root, n);

	return cloned(n, 3, 4) + cloned(n + 1, 3, 5) + by_value(t, b) + many(1, 2, 3, 4, 5, 6, n, o) +
	       (int)floating(n, 2, n) + (int)wide_argument(n, 4, n) + same_name() + variadic("x", n) + local_inline;
}
