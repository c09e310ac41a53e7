/* The same types, functions and variables in another order. */
enum mode { OFF, ON };
struct tree;
__attribute__((section(".data..percpu"))) enum mode mode = ON;
int depth(const struct tree *t);
struct tree { struct tree *left, *right; union { int i; long l; }; };
int depth(const struct tree *t) { return !!t->left; }
typedef int (*visit_t)(struct tree *, enum mode);
int walk(struct tree *t, visit_t v) { return v(t, ON); }
