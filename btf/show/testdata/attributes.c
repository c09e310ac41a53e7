/* Structs with an alignment and structs behind const, typedefs and arrays, in structs with and without a name. */
struct al { char y; long s __attribute__((aligned(32))); };
typedef struct al al_t;
typedef al_t al2_t;
typedef struct { char y; long s __attribute__((aligned(32))); } una_t;
typedef const una_t cuna_t;
typedef union { struct al g; char c; } ual_t;
struct st { int x; };
union un { const struct al in; int i; };
union un2 { int x; };
enum en { A };

/* const */
struct c1 { char c; const union un m; } c1;
struct c2 { char c; union un m[2]; } c2;
struct c3 { char c; struct { char z; const struct { char y; long s __attribute__((aligned(32))); } in; } m[2]; } c3;
struct c4 { char c; union { const struct { char y; long s __attribute__((aligned(32))); } in; int i; } *m; } c4;
struct c5 { const una_t b; volatile una_t e; cuna_t c; const struct al d, f[2]; struct al g; } c5;

/* typedefs */
union t1 { al_t a; ual_t b; una_t c; al2_t d; } t1;
struct t2 { al_t a; una_t b; al2_t d[2]; } t2;
struct t3 { union { int i; una_t a; al_t c; } x; struct { al_t e; } y; } t3;

/* structs without a name */
typedef struct {
	char c;
	const union un2 a;
	const struct st b;
	const struct { int k; } d;
	const union { int k; } e;
	const struct { int m; };
	const enum en h;
	const enum { Q } i;
	const struct st j[2];
	volatile struct st k;
	struct { const struct st deep; } n;
	struct st *p;
} a1_t;
typedef union { const struct st b; const union un2 c; const union { int k; } e; const struct al f; } a2_t;
typedef struct { const struct { const struct st b; const struct { const int m; const union un2 h; } k; } d; const a2_t z; const struct al f; al_t g; } a3_t;
a1_t a1; a2_t a2; a3_t a3;
