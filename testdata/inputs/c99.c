/* In C99; with c11.c, for what happens if a filter leaves one of them out. */
struct one { int a; };
struct one before[100];
struct one v1 __attribute__((section(".data..percpu")));
int f1(struct one *o) { return o->a; }
int both(int x) { return x + v1.a; }
