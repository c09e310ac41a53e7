struct fa { int n; int d[]; }; typedef struct fa fa_t; typedef struct { int n; int d[]; } fb_t; typedef fb_t fc_t;
struct e1 { struct fa a; }; struct e2 { fa_t a; }; struct e3 { fb_t a; }; struct e4 { fc_t a; }; struct e5 { const struct fa a; }; struct e6 { const fb_t a; };
struct e7 { struct fa a[2]; }; struct e8 { fb_t a[2]; }; union u9 { struct fa a; fb_t b; }; struct e9 { union u9 u; }; struct ea { union { struct fa a; } u; };
struct eb { struct e2 e; }; struct ec { struct e3 e; }; struct ed { struct eb e; int z; }; struct ee { struct { fb_t q; } s; }; struct ef { int z; fb_t a; int y; }; struct eg { union { fb_t a; } u; int z; };
typedef union { fb_t f; int l; } un_t; struct eh { un_t u; }; struct ei { volatile fb_t v; }; typedef const fb_t cfb_t; struct ej { cfb_t v; }; typedef struct e1 e1_t; struct ek { e1_t v; }; struct el { e1_t v; int z; };
typedef const struct fa cfa_t; struct em { cfa_t v; }; struct en { struct ee e; }; struct eo { struct e1 e; };
long l; struct e1 v1; struct e2 v2; struct e3 v3; struct e4 v4; struct e5 v5; struct e6 v6; struct e7 v7; struct e8 v8; struct e9 v9; struct ea va; struct eb vb; struct ec vc; struct ed vd; struct ee ve; struct ef vf; struct eg vg; struct eh vh; struct ei vi; struct ej vj; struct ek vk; struct el vl; struct em vm; struct en vn; struct eo vo;
