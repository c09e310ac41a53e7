/* The same types, functions and variables in another order. */
struct tree { struct tree *left, *right; union { int i; long l; }; };
enum mode { OFF, ON };
typedef int (*visit_t)(struct tree *, enum mode);
int walk(struct tree *t, visit_t v) { return v(t, ON); }
int depth(const struct tree *t) { return !!t->left; }
__attribute__((section(".data..percpu"))) enum mode mode = ON;
