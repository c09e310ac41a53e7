#include "shared.h"
struct other { char c; struct item *back; };
PERCPU int percpu_first;
PERCPU static struct item *percpu_hidden;
struct item items[3];
callback handler;
int first(struct item *item, callback call) { return call(item, item->state) + second(item, 3) + percpu_first + (percpu_hidden != 0); }
int same(const atomic *a) { return a->counter; }
void _start(void) { first(items, handler); third(&items[0].node, *items[1].count); }
int unused_first(struct other *o, int k) { return o->c + k; }
