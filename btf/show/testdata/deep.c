/* A line begins with 16 tabs at most. */
typedef unsigned int u32;
enum en { AA, BB };
struct n0 { char c; long l; enum { XX, YY } e; u32 b:3; enum en f; union { int a; long b; } u; struct { char q; short z; } s; u32 arr[3]; };
#define N(n, m) struct n { char c; struct m m; enum en f; };
N(n1, n0) N(n2, n1) N(n3, n2) N(n4, n3) N(n5, n4) N(n6, n5) N(n7, n6) N(n8, n7) N(n9, n8) N(n10, n9)
N(n11, n10) N(n12, n11) N(n13, n12) N(n14, n13) N(n15, n14) N(n16, n15) N(n17, n16) N(n18, n17) N(n19, n18) N(n20, n19)
struct n20 deep;
