#define tag(t) __attribute__((btf_decl_tag(t)))
#define __user __attribute__((btf_type_tag("user")))
#define __rcu __attribute__((btf_type_tag("rcu")))
struct node { int key tag("key"); struct node *next; } tag("root");
struct node node;
typedef int num_t tag("old");
num_t num;
int tag("fast") call(struct node *n tag("nonnull"), int i) { return n->key + i; }
int copy(void __user *to, void *from) { return to == from; }
