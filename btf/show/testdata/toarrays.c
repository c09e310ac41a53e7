/* Pointers to arrays of structs and unions. */
union un { int x; }; struct st { int x; char c; }; typedef union un una_t[2]; typedef struct st sta_t[2]; typedef una_t una2_t[3]; typedef struct { int q; } ana_t[2]; typedef const union un cuna_t[2]; typedef const struct st csta_t[2]; typedef union un *unpa_t[2]; typedef struct {struct st a; struct st *b; union un c; union un *d; } big_t[2];
struct g1 { long c; una_t *p; };
struct g2 { long c; sta_t *p; };
struct g3 { long c; una2_t *p; };
struct g4 { long c; ana_t *p; };
struct g5 { long c; cuna_t *p; csta_t *q; };
struct g6 { long c; unpa_t *p; };
struct g7 { long c; union un (*p)[2]; struct st (*q)[2]; };
struct g8 { long c; una_t **p; sta_t **q; };
struct g9 { long c; una_t *p[2]; sta_t *q[2]; };
struct g10 { long c; const una_t *p; const sta_t *q; };
struct g11 { long c; big_t *p; };
struct g12 { long c; struct { una_t *p; sta_t *q; big_t *r; } d; };
struct g13 { long c; union { una_t *p; sta_t *q; big_t *r; } d; };
struct g14 { long c; enum {A} (*p)[2]; struct { int x; } (*q)[3]; union { int x; } (*r)[4]; };
struct g15 { long c; struct g2 *x; struct g1 *y; };
struct g1 v1;
struct g2 v2;
struct g3 v3;
struct g4 v4;
struct g5 v5;
struct g6 v6;
struct g7 v7;
struct g8 v8;
struct g9 v9;
struct g10 v10;
struct g11 v11;
struct g12 v12;
struct g13 v13;
struct g14 v14;
struct g15 v15;

/* Pointers in structs so deep that columns have no width. */
struct k1 { struct { struct { const struct { struct { struct { const struct { struct { struct { struct { struct { struct fwd *p; const struct fwd *q; long x; enum { Z } e; } l; } m; } n; } a; } b; } c; } d; } e; } f; } g; };
struct k1 deep;
