struct file;
typedef int (*action)(struct file *, int);
int same(struct file *file, action a) { return a(file, 1); }
int more(struct file *file) { return !file; }
int less(int a, int b) { return a; }
int type(int a) { return a; }
int returns(void) { return 0; }
int renamed(int size) { return size; }
int variadic(const char *format) { return *format; }
static __attribute__((used, noinline)) int swapped(int a, long b) { return a + b; }
int removed(void) { return 0; }
