// What BTF has no kind for, or only just.
#include "types.h"

#if __STDC_VERSION__ >= 201112L && !defined(NO_ATOMIC)
_Atomic int atomic_int;
struct holds_atomic { _Atomic long a; int b; } *holds_atomic;
#endif
#ifdef __SIZEOF_INT128__
__int128 wide;
struct wide_fields { unsigned __int128 w; int x : 5; } *wide_fields;
#endif
#ifndef NO_COMPLEX
_Complex float complex_one;
struct holds_complex { int a; _Complex double c; } *holds_complex;
#endif
unsigned short silly __attribute__((mode(HI)));
struct silly_fields { int a : 32; short b : 16; char c : 8; long d : sizeof(long) * 8; u32 e : 31; } *silly_fields;
int (*function_array[3])(int (*)(void), int n);
void (**pointer_to_pointer)(void);
typedef void nothing_function(void);
nothing_function *nf;
extern char flexible[];
char flexible[3];

int run_time(int n, int m)
{
	int vla[n][m];
#ifdef __clang__
	return vla[0][0] = m;
#else
	int nested(int k) { return vla[k][0]; }
	vla[0][0] = m;
	return nested(0);
#endif
}
