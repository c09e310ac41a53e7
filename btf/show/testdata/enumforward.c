long l; enum fwd; enum fwd2;
struct A { int (*f)(enum fwd *); int (*g)(int, enum fwd *, enum fwd *); } A;
struct B { int (*f)(enum fwd *); } B;
struct C { enum fwd2 *p; enum fwd2 *q; } C;
struct D { enum fwd2 *p; } D;
enum real { X };
struct E { int (*f)(enum real *); int (*g)(enum real *); enum real *q; } E;
typedef enum fwd fwd_t; typedef int (*fn_t)(fwd_t *, const enum fwd2 *);
struct F { fwd_t *a; fn_t b; const enum fwd *c; enum fwd **d; enum fwd *e[3]; struct { enum fwd *x; struct A a; } in; } F;
