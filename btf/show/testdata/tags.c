// Pointers through type tags: to structs, unions, enums, functions, and to types that are only
// declared. Compiled by clang -g -c -target bpf.
#define T(x) __attribute__((btf_type_tag(#x)))
union ufwd;
struct sfwd;
union ud { int a; long b; };
enum e { A, B };
struct in { int x; };
typedef union ud udt;
typedef struct in int_t;
typedef int (T(user) *fpt)(int);
typedef int fproto(int);
typedef fproto T(user) *fpp;
typedef int (T(a) T(b) *fpt2)(struct in T(user) *);
struct data {
	long l;
	const union ufwd *a;
	union ufwd T(user) *a0;
	const union ufwd T(user) T(rcu) *b;
	const struct sfwd T(user) *d;
	struct sfwd T(user) *d0;
	const union ud T(user) *f;
	union ud T(user) *f0;
	const enum e T(user) *h;
	enum e T(user) *h0;
	const volatile struct in T(user) *cv;
	const udt T(user) *k;
	const int_t T(user) *k2;
	const void T(user) *v2;
	int *T(user) *pp;
	struct in T(user) * T(rcu) *pp2;
	struct in T(user) *self[3];
	struct { struct data T(rcu) *again; } inner;
};
struct calls {
	long l;
	int (T(user) *fp)(int);
	int (T(user) *fa[3])(int);
	int (T(user) * T(rcu) *fpp2)(int);
	fpt t;
	fpp t2;
	fproto T(user) *t3;
	int (T(user) * const cf)(int);
	int (*withparam)(int (T(user) *cb)(int), fpt);
	struct in T(user) *(T(user) *ret)(void);
	struct { int (T(user) *fp)(int); } an;
	union { int (T(user) *fp)(int); fpt2 *q; } un;
	const fpt cfpt;
};
struct outer {
	struct data *p;
	const struct data T(user) *tp;
	struct outer T(rcu) *self;
	struct { const struct data T(a) T(b) *z; } deep;
	fpt2 z;
	struct calls T(user) *c;
};
struct outer vo;
