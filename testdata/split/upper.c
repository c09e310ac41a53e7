/* A module over the module of module.c: its types, those of the base, a body
 * for what both only declare, and types of its own. */
#include "types.h"

struct opaque { int body; struct opaque *next; };

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

typedef struct mine mine_t;

struct upper {
	mine_t *below;
	const struct hidden *hidden;
	struct opaque inner;
	volatile u32 word;
};

struct upper upper __attribute__((section(".data..percpu")));

const char *upper_label(struct mine *m, struct upper *u, double scale)
{
	u->below = m;
	return scale > m->scale ? m->t.label : 0;
}

unsigned long upper_unused(struct opaque *o, mine_t **list)
{
	return o->body + (list != 0);
}
