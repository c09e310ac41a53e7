// The names of data.c and funcs.c with other definitions.
#include "types.h"

struct forward { int known; struct common *back; };
struct item { int entirely; struct forward *other; };
struct pair { int a; };
enum far { NEAR };
typedef long anonymous;

struct item *clash_item;
struct forward global_forward;
enum far global_near;

static noinline int recurse(long n) { return n ? recurse(n - 2) : 1; }
static noinline int lost(struct pair *p) { return p->a; }
int in_clash(struct item *i, anonymous a, struct pair *p) { return i->entirely + a + recurse(a) + lost(p); }
