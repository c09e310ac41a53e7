struct list { struct list *next, *prev; };
struct item { int id; short kind, flags; long cookie; struct list list; unsigned long deadline; char name[8]; };
struct queue { struct item head; int len; };
struct handle { struct item *item; };
struct queue queue;
struct handle handle;
