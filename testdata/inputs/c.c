#include "types.h"

struct tree { struct tree *child[2]; struct list list; handler on[3]; };
struct opaque;

struct tree *c_find(struct tree *t, const char *name, struct opaque *o)
{
	return t->child[name[0] != 0 || o];
}
struct device *c_device(struct tree *t) { return (struct device *)&t->list; }
