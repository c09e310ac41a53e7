/* What the files of a program have in common. */
struct own;
struct node { struct node *next; long value; struct other *other; };
typedef struct { int counter; } atomic;
enum state { OFF, ON, BROKEN = -1 };
struct item { struct node node; enum state state; unsigned flags : 5, more : 11; atomic *count; char name[12]; };
typedef int (*callback)(struct item *item, enum state state);
#define PERCPU __attribute__((section(".data..percpu"), used))
static inline long sum(const struct node *n) { return n ? n->value + (n->next ? n->next->value : 0) : 0; }
extern int first(struct item *item, callback call);
extern long second(struct item *item, unsigned long k);
extern long third(const struct node *node, atomic count);
extern int tiny(const struct item *item, struct own *own);
extern struct item items[3];
