struct list { struct list *next, *prev; };
struct item { int id; short kind, flags; struct list list; unsigned long deadline; char name[8]; };
struct queue { struct item head; int len; };	/* holds an item: its size counts */
struct handle { struct item *item; };		/* points to one: no difference */
struct queue queue;
struct handle handle;
