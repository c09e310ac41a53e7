struct inner { int a; };
typedef struct inner *inner_p;
struct outer { struct inner *p; inner_p q; struct inner *array[4]; void (*call)(struct inner *); } outer;
int take(struct inner *i, inner_p p) { return i->a + p->a; }
