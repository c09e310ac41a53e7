typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;
#define PK __attribute__((packed))
struct m1 { u8 a[10]; u16 b; u8 c, d[3]; }; struct o1 { u16 x; u8 y; struct m1 m; u16 z; u32 w; u8 v; } PK;
struct m2 { u16 a; }; struct o2 { u8 x; struct m2 m; u8 q[3]; struct m2 n; } PK; struct h2 { struct m2 b; u8 z; };
struct t1 { u16 x; struct t1o { u8 y; struct t1m { u16 b; u8 z[2]; } m, n; } PK o; };
struct t2 { u16 x; struct t2o { u8 y; struct t2m { u16 b; u8 z[2]; } m, n; } PK *o; };
struct t3 { u16 x; struct { u8 y; struct t3m { u16 b; u8 z[2]; } m, n; } PK o; };
struct t4 { u8 x; union { struct { u8 y; struct { u16 b; u8 z[2]; } m, n; } PK o; int l; } u; } PK;
typedef struct { u8 y; struct t5m { u16 b; u8 z[2]; } m, n; } PK t5_t; struct t5 { u8 x; t5_t t; };
struct t6m { u16 b; u8 z[2]; }; typedef struct t6m t6_t; struct t6 { u8 x; t6_t t; } PK;
struct t7m { u16 b; }; struct t7 { u8 x; struct t7m t[2]; } PK; union t8m { u16 b; u8 z[2]; }; struct t8 { u8 x; union t8m t; } PK;
struct t9 { u8 x; struct t9m { struct t9n { u16 a; } n; u8 y, z; } m; } PK;
struct m { u16 a; }; struct hol { u8 x; struct m m; u32 y __attribute__((aligned(4))); u8 z; } PK;
struct f1 { struct m a; u16 b; struct hol h; struct m c; }; union f2 { struct m a; struct hol h; }; struct f3 { struct m a; u8 k; struct hol h; struct m b; } PK;
struct o1 v01; struct o2 v02; struct h2 v03; struct t1 v1; struct t2 v2; struct t3 v3; struct t4 v4; struct t5 v5; struct t6 v6; struct t7 v7; struct t8 v8; struct t9 v9; struct f1 w1; union f2 w2; struct f3 w3;
