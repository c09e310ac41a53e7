/* In C11; see c99.c. */
struct two { long b; char c; };
struct two v2 __attribute__((section(".data..percpu")));
struct two w2 __attribute__((section(".data..percpu")));
int f2(struct two *o) { return o->b; }
int both(int x) { return x + v2.b; }
