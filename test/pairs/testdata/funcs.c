// Functions whose parameters an encoder has to look at closely.
#include "types.h"

struct big { long a, b, c; };
struct pair { long a, b; };

static noinline int lost(int used_one, int unused) { return used_one * 3; }
static noinline long part(struct pair p, int z) { return p.b + z; }
noinline int many(int a, long b, char c, short d, void *e, int f, u64 g, struct pair h, u8 i) { return a + b + c + d + !e + f + g + h.a + i; }
noinline struct big whole(struct big b, int n) { b.a += n; return b; }
noinline double real(float f, double d, int n) { return f * d + n; }
noinline int tail(const char *text, ...) { return *text; }
noinline void old() {}
noinline int unnamed(int a, int) { return a; }
noinline void *pointer(void *restrict p, const volatile int *q) { return *q ? p : 0; }
static noinline int recurse(int n) { return n ? recurse(n - 1) + 1 : 0; }
int in_order(enum state s, struct common *c) { c->call(c, s); return lost(s, 3) + recurse(s); }
long caller(struct pair p) { return part(p, 4) + lost(p.a, 5); }
int with_alias(int n) { return n + 1; }
extern int other_name(int) __attribute__((alias("with_alias")));
