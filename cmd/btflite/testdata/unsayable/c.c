typedef _Atomic int aint;
struct base { int x; };
struct atomics {
	char c;
	_Atomic int counter;
	_Atomic int *p;
	aint t;
	_Atomic(struct base) s;
	const _Atomic long q;
	_Atomic int arr[3];
	int *_Atomic ap;
	_Atomic(void *) vp;
	void (*fn)(_Atomic int *, aint);
	char tail;
};
struct numbers {
	char first;
	_Complex float cf;
	_Complex double cd;
	_Complex long double cld;
	_Complex int ci;
	long double ld;
	__int128 i128;
	char last;
};
union choice { _Atomic long a; _Complex double b; };
_Atomic int get(_Atomic int *p, aint q) { return *p + q; }
_Complex double cx(_Complex float f) { return f; }
static int st(struct atomics *a) { return a->counter; }
int use(struct atomics *a, struct numbers *n, union choice *c) { return st(a) + (int)n->ld + (int)c->a; }
