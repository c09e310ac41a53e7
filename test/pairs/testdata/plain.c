// The little that most modules have.
#include "types.h"

struct common *plain_common;
int plain(struct common *c, struct list *l) { return c->__kabi_one + !l; }
