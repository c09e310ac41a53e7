/* A module over base.c: types of its own, and most of the base's. */
#include "types.h"

struct mine {
	struct thing t;
	struct flags *list[4];
	struct opaque *o;
	union word word;
	enum narrow n;
	enum wide w;
	callback call;
	double scale;
	struct mine *self;
};

struct mine mine __attribute__((section(".data..percpu")));

const char *module_label(struct thing *t, struct hidden *h, volatile long *stamp)
{
	*stamp = h->a;
	return t->label;
}

typeof(((struct thing *)0)->part) *module_part(struct mine *m)
{
	return &m->t.part;
}
