/* The base of the split BTF tests: every kind that a distilled base can hold. */
#include "types.h"

enum { ANON_A = 3, ANON_B = -4 } anon_enum;

int base_function(struct thing *t, struct flags *f, union word w, enum narrow n)
{
	return t->count + f->bits + (int)w.value + n;
}
