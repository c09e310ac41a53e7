/* vmlinux-6.12 of the README; build.sh makes 6.12.btf of it. */
struct list { struct list *next, *prev; };
struct item { int id; short kind, flags; struct list list; unsigned long deadline; char name[8]; };
struct opaque;
struct file { long cookie; unsigned int mode; struct item *item; struct opaque *opaque; };
int more(struct file *file) { return file != 0; }
