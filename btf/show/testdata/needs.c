typedef unsigned char u8; typedef unsigned int u32; typedef u32 u33; typedef u8 **pp8; typedef u8 *const cp8; typedef u8 *volatile arr8[2];
struct a { int x; }; union ua { int x; long y; }; enum ea { A1 }; struct fw;
typedef struct a a_t; typedef struct { u8 q; } an_t; typedef enum { E1 } ena_t; typedef enum ea ea_t; typedef int (*fn_t)(struct a *, u8); typedef int fun_t(ea_t);
typedef a_t *ap_t; typedef const u33 *cp33_t; typedef u33 const c33_t; typedef struct a arr_t[3]; typedef struct fw fw_t; typedef struct { struct a q; struct { int z; } w; } an2_t;
typedef fn_t *pfn_t; typedef struct a *(*rfn_t)(an_t *, int (*cb)(u33)); typedef union ua un_t; typedef struct { u8 zz; } *panon_t;
struct s01 { struct a x, y; enum ea e, f; struct fw *p, *q; union ua u, v; an_t an; struct a *r; };
struct s02 { int (*f)(u8); int (*g)(u8); int (*h)(struct a *); int (*i)(struct a); struct a (*j)(u33 **, union ua, ...); };
struct s03 { struct { struct { u8 x; } x; u33 y; } *x; struct { int z; struct a zz; } *r; struct { struct { u8 b; } k; } l; struct { int same; } m, n; };
struct s04 { ap_t a; cp33_t b; c33_t c; arr_t d; fw_t *e; an2_t f; pfn_t g; rfn_t h; un_t i; panon_t j; pp8 k; cp8 l; arr8 m; fun_t *n; ena_t *o; };
struct s05 { int (**f)(u8); int (*const g)(u33); int (*(*h)(void))(an_t *); int (*i)(int (*)(u8), enum ea); struct a (*ar)[3]; const volatile a_t *cv; };
struct s21 { struct s21 *a; struct s22 *b; struct s22 { struct s21 *k; } c; }; struct s23 { struct s22 x, *y; struct s21 z; };
typedef struct tn { const struct tn *next; const struct td_ *td; } tn_t; typedef struct td_ { const struct td_ *d; struct { const tn_t *t; } x; } td_t; struct s24 { td_t t; struct fpx *p; }; struct fpx { int (*f)(struct fpx); };
struct x { int a; }; enum e { E0 }; struct w { struct x x; enum e e; }; enum k2 { K2 };
struct a va; struct s01 v01; struct s02 v02; struct s03 v03; struct s04 v04; struct s05 v05; struct s21 v21; struct s23 v23; struct s24 v24; struct fpx vf; struct w vw; enum k2 vk;
/* and, in another file: union x { int a; long b; }; struct y { union x *p; union x q; }; struct e { int m; }; typedef struct e e_t; struct z { struct e e, *ee; e_t t; }; struct y vy; struct z vz; */
