struct file;
typedef int (*action)(struct file *, int);
int same(struct file *file, action a) { return a(file, 1); }
int more(struct file *file, unsigned flags, void (*done)(struct file *, int)) { return !file; }
int less(int b) { return b; }
int type(const struct file *a) { return !a; }
long returns(void) { return 0; }
int renamed(int len) { return len; }
int variadic(const char *format, ...) { return *format; }
static __attribute__((used, noinline)) int swapped(long b, int a) { return a + b; }
int added(char (*table)[4]) { return **table; }
