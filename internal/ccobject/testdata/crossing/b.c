#include "shared.h"
struct own { double d; union { int i; float f; } u; };
PERCPU struct own percpu_second = { 1, { 2 } };
static struct own table[4] __attribute__((used));
static __attribute__((noinline)) long part(struct item *item, struct own *own, int unused) { return item->more + own->u.i; }
long second(struct item *item, unsigned long k) { return part(item, &table[k & 3], 5) + sum(&item->node) + percpu_second.u.i; }
__attribute__((weak)) int weak_one(struct own *own) { return own->u.i; }
int tiny(const struct item *item, struct own *own) { return item->flags + (own ? own->u.i : 0); }
long unused_second(struct own *o) { return o->u.i; }
int same_too(const atomic *a) { return a->counter; }
