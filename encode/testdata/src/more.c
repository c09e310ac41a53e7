// SPDX-License-Identifier: MIT
// A second unit: types that the first one has too, others of the same name,
// and definitions of what is only declared elsewhere.
#include "shared.h"

struct hidden { int now_seen; struct node *node; };
union unseen { int a; char b[4]; };

// Not the struct two of funcs.c.
struct two { int a; };

volatile int other_out;
struct hidden *hidden_one;
union unseen unseen_one;
struct two two_one;
PERCPU struct hidden pcpu_hidden;

NOINLINE USED static int same_name(void) { return other_out + 2; }

int caller(int n);
int use_types(void *, const void *, void *);
int arena_function(void *arena, int n);
int fast_function(int n);

int arena_function(void *arena, int n) { return arena ? n : other_out; }
int fast_function(int n) { return n + other_out; }

void _start(void)
{
	other_out = caller(other_out) + same_name() + use_types(0, 0, hidden_one) + shared_inline(hidden_one->node, 1) +
		    arena_function(hidden_one, 1) + fast_function(2) + conflict("", 1);
}
