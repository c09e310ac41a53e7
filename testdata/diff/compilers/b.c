/* Compiled by gcc and by clang: names of integers and the like differ, the ABI
   does not. */
#include <stdarg.h>
#include <stdbool.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long int word_t;
typedef struct { int counter; } atomic_t;
typedef struct { union { struct { u16 owner, next; }; u32 value; }; } lock_t;
typedef int (*compare_t)(const void *, const void *);

enum state { IDLE, BUSY = 5, DEAD = -1 };
enum wide { SMALL, LARGE = 1ull << 40 };

struct list { struct list *next, **pprev; };

struct item {
	char c;
	signed char sc;
	unsigned char uc;
	short s;
	unsigned short us;
	int i;
	unsigned u;
	long l;
	unsigned long ul;
	long long ll;
	unsigned long long ull;
	bool b;
	float f;
	double d;
	__int128 wide;
	unsigned __int128 uwide;
	const volatile long *p;
	long matrix[2][3];
	unsigned flags : 3;
	unsigned : 5;
	unsigned long bits : 40;
	atomic_t refs;
	lock_t lock;
	struct list list;
	enum state state;
	enum wide w;
	compare_t compare;
	void (*done)(struct item *it, unsigned long status);
	union { long number; char *text; };
	u8 tail[];
};

struct item items[2];
static volatile unsigned long ticks;
const char *const text = "text";

long add(long a, unsigned long b) { return a + b + ticks; }
u64 find(const struct item *it, compare_t compare, u32 n) { return compare(it, it) + n; }
unsigned short narrow(unsigned short us, char c, signed char sc, bool b) { return us + c + sc + b; }
int print(const char *restrict format, ...)
{
	va_list list;
	va_start(list, format);
	va_end(list);
	return 0;
}
word_t words(word_t *words, int n) { return words[n]; }
enum wide next(enum state state) { return state ? SMALL : LARGE; }
lock_t *lock(lock_t *l, atomic_t refs) { return refs.counter ? l : 0; }
void matrix(long m[2][3], void (*fn)(void)) { m[0][0] = 1; fn(); }
