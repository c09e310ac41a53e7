// SPDX-License-Identifier: MIT
// Types of every BTF kind, and one function that uses them all.
#include "shared.h"

typedef _Bool flag_t;
typedef float real32;
typedef int (*callback_t)(const char *format, ...);
typedef callback_t (*chooser_t)(enum level, volatile const struct node *restrict);

enum { NAMELESS = 1 << 30 };
enum tiny { TINY_A, TINY_B } __attribute__((packed));
enum wide { WIDE_ZERO, WIDE_MAX = 0xfedcba9876543210ULL };
enum wide_signed { WS_MIN = -0x7edcba9876543210LL, WS_ONE = 1 };
enum top { TOP = 0xffffffffU };

struct hidden;
union unseen;

struct bits {
	int first : 1;
	unsigned second : 5;
	int : 0;
	u8 small : 3, same : 5;
	u64 across : 40;
	enum level level : 4;
	flag_t on : 1;
	int full : 32;
};

struct __attribute__((packed)) packed_bits {
	u8 lead;
	u32 low : 20;
	u32 high : 12;
	short tail;
};

struct arrays {
	int matrix[2][3][4];
	char none[0];
	struct { int x, y; } points[3];
	union { long l; double d; struct { u8 lo, hi; }; };
	struct node *table[];
};

struct kitchen_sink {
	struct node node;
	struct bits bits;
	struct packed_bits packed;
	real32 r32;
	double r64;
	long double extended;
	chooser_t chooser;
	int (*plain)(void);
	struct hidden *hidden;
	union unseen *unseen;
	enum tiny tiny;
	enum wide wide;
	enum wide_signed wide_signed;
	enum top top;
	struct arrays arrays;
};

const volatile int *volatile both;
int large[3];
static struct kitchen_sink sink;
PERCPU int counter;
PERCPU static struct node pcpu_node;
PERCPU u64 pcpu_array[4];

int use_types(void *opaque, const void *constant, struct kitchen_sink *all)
{
	if (opaque == constant)
		sink.node.value += counter + large[1] + NAMELESS;
	all->packed.tail = (short)pcpu_array[2];
	pcpu_node.value++;
	return sink.arrays.matrix[1][2][3] + pcpu_node.value + (both ? *both : 0);
}
