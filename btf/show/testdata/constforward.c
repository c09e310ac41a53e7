struct f; union uf;
typedef const struct f *cft; typedef const struct f ct;
struct a { const struct f *c; struct f *p; const struct f *const cc; const struct f **ppc; struct f *const pc; volatile struct f *v; const union uf *u; union uf *uu; const volatile struct f *cv; const struct f *arr[2]; const void *vo; };
struct b { cft t; ct *t2; const ct *t3; };
struct o { int pad; struct { int in; const struct f *c; const union uf *u; }; struct a *a; const struct b *b; } vo;
