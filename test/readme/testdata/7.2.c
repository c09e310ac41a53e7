/* vmlinux-7.2 of the README; build.sh makes 7.2.btf of it. */
struct list { struct list *next, *prev; };
struct item { int id; short kind, flags; long cookie; struct list list; unsigned long deadline; char name[8]; };
struct opaque { int a; long b; };
struct file { long cookie; unsigned int mode; struct item *item; struct opaque *opaque; };
int more(struct file *file, unsigned int flags) { return file != 0 && flags; }
