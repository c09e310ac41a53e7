/* four files, linked by ld -r */
/* 1: struct foo { int a1[1]; }; struct p1 { struct foo *x; }; struct q1 { struct foo *y; int z; }; struct bar; struct r1 { struct bar *b; struct foo *f; }; struct p1 v1; struct q1 w1; struct r1 k1; */
/* 2: struct foo { int a2[2]; }; struct p2 { struct foo *x; }; struct q2 { struct foo *y; int z; }; struct bar; struct r2 { struct bar *b; struct foo *f; }; struct p2 v2; struct q2 w2; struct r2 k2; */
/* 3: struct foo { int a3[3]; }; struct p3 { struct foo *x; }; struct q3 { struct foo *y; int z; }; struct bar; struct r3 { struct bar *b; struct foo *f; }; struct p3 v3; struct q3 w3; struct r3 k3; */
/* 4: struct bar { int z; }; struct bb { struct bar *z; } vb; */
