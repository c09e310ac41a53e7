int two(void) { struct map { long x, y, z; } m = { 1 }; struct map *p = &m; return p->x; }
int one(void) { struct map { int a; } m = { 1 }; struct map *p = &m; return p->a; }
int three(void) { struct map { char c; } m = { 1 }; struct map *p = &m; return p->c; }
