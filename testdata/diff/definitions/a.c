/* The same name in two blocks: two definitions. */
int one(void) { struct map { int a; } m = { 1 }; struct map *p = &m; return p->a; }
int two(void) { struct map { long x, y; } m = { 1 }; struct map *p = &m; return p->x; }
