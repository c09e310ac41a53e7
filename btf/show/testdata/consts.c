struct c { int x; }; enum e { A };
union un { const struct c a; const enum e b; int z; };
struct in { struct { const struct c q1; struct { const struct c q2; const enum e q3; } deep; } an; struct { const struct c q4; }; const union { int a; const struct c q5; } cu; const enum e q6; };
typedef struct { struct { const struct c w; } m; const struct c w2; } td; typedef td td2; typedef struct in in_t;
struct o { struct in mem; struct in arr[2]; td t; td2 t2[3]; in_t it; const union { int u; const struct c z; } cuu; struct { int *pi; const struct c kk; } *anp; };
struct p { union un u1; union un u2[2]; const union un u3; struct { union un u4; }; enum e e1; volatile struct c vc; const struct c ar[2]; const union un au[2]; };
struct o vo; struct p vp;
