/* One unit with what a unit record has to hold. */
struct list { struct list *next, *prev; };
enum small { SMALL_A, SMALL_B = -1, SMALL_C = 7 };
enum large { LARGE_A = 0x7fffffffffffLL, LARGE_B = -5 };
enum plain { PLAIN = 0x80000000 };
struct bits { int a : 3; unsigned b : 5; unsigned long long c : 33; _Bool d : 1; };
struct __attribute__((packed)) packed { char c; int i; long l; };
struct item {
	const char *name;
	struct list link;
	enum small e;
	enum large big;
	union { long x; float f; struct bits bits; } u;
	int matrix[3][4];
	struct forward *forward;
	volatile const void *restrict_me;
	long double ld;
	double d;
	char flexible[];
};
typedef int (*callback)(struct item *item, int n, ...);
typedef struct { int counter; } atomic;
struct four { long a, b, c, d; };

int global_variable = 1;
static struct item *static_variable __attribute__((used));
__attribute__((section(".data..percpu"))) struct item *percpu_variable;
__attribute__((section(".data..percpu"), used)) static int percpu_static;
extern int elsewhere(atomic *a, const struct packed *p);

__attribute__((weak)) int weak_function(int a) { return a; }
static inline int helper(struct item *i, int k) { return i->u.bits.a + k; }
static __attribute__((noinline)) int optimized(int a, int b, int unused) { return a * b; }
static __attribute__((noinline)) long members(struct item *i) { return i->e + i->matrix[1][2]; }
long many(int a, long b, char c, struct bits d, int e, int f, int g, struct packed h, struct four i)
{
	return a + b + c + d.a + e + f + g + h.l + i.d;
}
float floating(float f, double d) { return f * d; }
long entry(struct item *item, callback call, int n, struct bits b)
{
	static atomic counter;
	struct packed p = { 1, n, 3 };
	return helper(item, n) + call(item, n) + elsewhere(&counter, &p) + optimized(n, 3, 9) + members(item) + percpu_static + b.b;
}
__attribute__((section(".init.text"))) int in_init(enum large x, enum plain y) { return x == LARGE_A && y == PLAIN; }
static __attribute__((noinline, noclone)) int variadic(const char *format, ...) { return *format; }
int calls_variadic(void) { return variadic("x", 1) + weak_function(2); }

/* In a section whose contents the linker merges, if the compiler puts constants there. */
static const long table[2] = { 1, 2 };
__attribute__((weak)) long lookup(int i) { return table[i]; }
