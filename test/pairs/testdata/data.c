// Types of every kind that C has, most of them with something odd.
#include "types.h"

struct never_here;

struct item {
	struct list head;
	u64 cookie;
	u8 kind : 3, flag : 1;
	u32 wide : 32;
	u16 half : 16;
	signed int low : 7;
	enum state state : 8;
	struct { u16 x, y; union { u32 both; u8 parts[4]; }; };
	union { float ratio; double precise; } number;
	const struct never_here *opaque;
	struct item *(*clone)(const struct item *, int, ...);
	char tail[];
};

struct packed { u8 one; u64 eight; u16 two; } __attribute__((packed));
struct aligned { char c; } __attribute__((aligned(32)));
struct nothing {};
struct bools { _Bool a : 1, b; };
union any { struct item *item; u64 word; u8 bytes[2][3]; };
enum far { FAR_LOW = -1, FAR_HIGH = 0x100000000LL };
enum huge { HUGE_ONE = 1, HUGE_ALL = 0xffffffffffffffffULL };
enum { NAMELESS = 7 };
typedef struct { int a; } anonymous;
typedef anonymous again;
typedef int vector __attribute__((vector_size(16)));
typedef const volatile struct packed *watched;

struct item *global_item;
union any *global_any;
struct aligned global_aligned;
struct nothing global_nothing;
struct bools global_bools;
enum far global_far;
enum huge global_huge;
again global_again;
watched global_watched;
long double global_long;
int grid[2][3][4];
int none[0];
static int counter[NAMELESS];

int use_item(struct item *i, const char *restrict name)
{
	struct local { int inner; } l = { i->low };
	return l.inner + counter[i->kind] + *name;
}

struct packed by_value(struct packed p, again a)
{
	p.two += a.a;
	return p;
}
