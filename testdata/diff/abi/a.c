/* What counts for code that was compiled before, and what does not. */
typedef unsigned int u32;
typedef long word_t;
typedef struct { int counter; } atomic_t;
typedef struct { long value; } size_of_t;
typedef struct { int a; } *handle_t;

enum state { IDLE, BUSY, GONE };

struct same {
	unsigned int flags;
	long length;
	const char *name;
	int (*call)(int first);
	unsigned long until;
};

struct grows { int a; };
struct holds { struct grows g; };
struct points { struct grows *g; };
struct typed { long l; unsigned int u; int i; size_of_t s; };
struct renamed { int old; };
struct deep { word_t *pointer; u32 list[4]; };

struct same same;
struct holds holds;
struct points points;
struct typed typed;
struct renamed renamed;
struct deep deep;
handle_t handle;
enum state state;
static int placed[3];
int number;

int parameter_names(int a, char *text) { return a + *text + placed[0]; }
u32 typedefs(u32 a, atomic_t *refs) { return a + refs->counter; }
int qualifiers(char *text, const int n) { return *text + n; }
int types(int a, long b) { return a + b; }
int pointees(int *a, void *b) { return *a + (b != 0); }
int swapped(int a, long b) { return a + b; }
int fewer(int a, int b) { return a + b; }
int variadic(const char *text) { return *text; }
int callback(int (*call)(int a)) { return call(0); }
