#define tag(t) __attribute__((btf_decl_tag(t)))
#define __user __attribute__((btf_type_tag("user")))
#define __rcu __attribute__((btf_type_tag("rcu")))
struct node { int key; struct node __rcu *next tag("link"); } tag("root") tag("kept");
struct node node;
typedef int num_t tag("new");
num_t num;
int tag("slow") call(struct node *n, int i tag("index")) { return n->key + i; }
int copy(void __user *to, void __user *from) { return to == from; }
