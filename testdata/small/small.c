// SPDX-License-Identifier: MIT
//
// small.c: the C types that BTF can describe, one of each kind at least, in a
// program small enough to keep beside its source. Rebuild with
//
//	cd testdata/small && gcc -O2 -g -gdwarf-5 -nostdlib -static -fno-pie -no-pie \
//	    -fno-stack-protector -fno-asynchronous-unwind-tables -ffile-prefix-map="$PWD"=. \
//	    -Wl,--build-id=none -Wl,--unique=.data..percpu -o small small.c
//
// (`make testdata` does the same). The committed file was written by
// gcc 12.2.0 of Debian 12 on amd64; --unique keeps the section .data..percpu,
// which the linker would otherwise merge into .data. small.btf is what
// pahole 1.32 makes of it (`make golden` writes it again).

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Bool bool_t;

#define noinline __attribute__((__noinline__))
#define used __attribute__((__used__))
#define percpu __attribute__((__used__, section(".data..percpu")))

// Enumerations: unsigned, signed, and two that need 64 bits.
enum color { RED, GREEN = 5, BLUE };
enum level { LOWEST = -3, MIDDLE = 0, HIGHEST = 7 };
enum wide { WIDE_ZERO, WIDE_BIG = 0x123456789abcdefULL };
enum wide_signed { WS_MIN = -0x123456789abcdefLL, WS_ONE = 1 };
enum { NAMELESS_A = 1, NAMELESS_B = 1 << 30 };

// A forward declaration that stays one, and one that is completed below.
struct never_defined;
struct node;
union payload;

// Function types: plain, with a variable tail, returning a function pointer.
typedef int (*compare_fn)(const void *, const void *);
typedef int print_fn(const char *fmt, ...);
typedef compare_fn (*choose_fn)(enum color, u32 flags);

struct flags {
	u32 ready : 1;
	u32 mode : 3;
	int delta : 5;
	u32 : 0;
	enum color color : 4;
	u64 far : 40;
	bool_t on : 1;
};

struct list_head {
	struct list_head *next, *prev;
};

struct node {
	struct list_head list;
	struct node *parent;
	const struct never_defined *opaque;
	union payload *payload;
	struct flags flags;
	union {
		struct {
			u16 low, high;
		};
		u32 both;
	};
	struct {
		volatile int count;
		const char *const name;
	} named;
	print_fn *print;
	choose_fn choose;
};

union payload {
	u64 words[4];
	u8 bytes[2][4][4];
	struct node *ring[3];
	float ratio;
	double precise;
};

struct packed_row {
	u8 kind;
	u32 value;
	u64 stamp;
} __attribute__((packed));

struct flexible {
	u32 len;
	enum wide wide;
	enum wide_signed wide_signed;
	long double longest;
	struct packed_row rows[];
};

// Types that differ only in what a pointer points to.
typedef const volatile u32 *reg_t;
typedef struct node *const fixed_node_t;
typedef struct { int x, y; } point_t;

percpu u64 cpu_counter = 1;
percpu struct flags cpu_flags = { .ready = 1, .delta = -2 };
static percpu point_t cpu_points[4] = { { 1, 2 } };
percpu struct node *cpu_current = (struct node *)&cpu_counter;

used enum level global_level = LOWEST;
used union payload global_payload;
static char text[64];
static struct list_head nodes = { &nodes, &nodes };

noinline used int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

noinline used int print(const char *fmt, ...)
{
	__builtin_va_list args;
	int n = 0;

	__builtin_va_start(args, fmt);
	while (*fmt && n < (int)sizeof(text))
		text[n++] = *fmt++ == '%' ? (char)__builtin_va_arg(args, int) : fmt[-1];
	__builtin_va_end(args);
	return n;
}

noinline used compare_fn choose(enum color color, u32 flags)
{
	return color == GREEN && flags ? by_value : 0;
}

noinline used float scale(float ratio, double factor, long double *out)
{
	*out = factor;
	return ratio * (float)factor;
}

// The compiler may rewrite this static function's parameters (.isra, .constprop).
static noinline int sum_point(const point_t *p, int unused)
{
	return p->x + p->y;
}

noinline used void link_node(struct node *restrict node, fixed_node_t parent)
{
	node->parent = parent;
	node->list.next = nodes.next;
	node->list.prev = &nodes;
	nodes.next = &node->list;
	node->print = print;
	node->choose = choose;
}

noinline used u64 total(const struct flexible *f, reg_t mask)
{
	u64 sum = 0;

	for (u32 i = 0; i < f->len; i++)
		sum += f->rows[i].value & *mask;
	return sum + f->wide + (u64)f->wide_signed;
}

noinline used s64 walk(struct node **nodes, int n, bool_t deep, u8 a, u16 b, u32 c, u64 d, point_t on_stack)
{
	s64 sum = a + b + c + (s64)d + on_stack.x;

	for (int i = 0; i < n; i++)
		sum += deep ? nodes[i]->flags.far : nodes[i]->both;
	return sum;
}

void _start(void)
{
	struct node node = { .named = { .name = "first" } };

	link_node(&node, cpu_current);
	cpu_counter += (u64)sum_point(&cpu_points[0], NAMELESS_B) + (u64)print("%d\n", NAMELESS_A);
	for (;;)
		;
}
