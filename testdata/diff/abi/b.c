/* What counts for code that was compiled before, and what does not. */
typedef long word_t;
typedef struct { int counter; } atomic_t;
typedef struct { long value, more; } size_of_t;
typedef struct { int a, b; } *handle_t;

enum state { IDLE, BUSY = 2, GONE };

struct same {
	unsigned int flags;
	word_t length;
	char *const name;
	int (*call)(int other);
	unsigned long long until;
};

struct grows { int a, b; };
struct holds { struct grows g; };
struct points { struct grows *g; };
struct typed { int l; int u; unsigned int i; size_of_t s; };
struct renamed { int new; };
struct deep { int *pointer; int list[4]; };

struct same same;
struct holds holds;
struct points points;
struct typed typed;
struct renamed renamed;
struct deep deep;
handle_t handle;
enum state state;
int number = 1;
static int placed[3] = { 1 };

int parameter_names(int b, char *string) { return b + *string + placed[0]; }
unsigned typedefs(unsigned a, atomic_t *refs) { return a + refs->counter; }
int qualifiers(const char *text, int n) { return *text + n; }
int types(long a, int b) { return a + b; }
int pointees(unsigned *a, char *b) { return *a + *b; }
int swapped(int b, long a) { return a + b; }
int fewer(int b) { return b; }
int variadic(const char *text, ...) { return *text; }
int callback(int (*call)(long a)) { return call(0); }
