/* gcc -m32: a union whose size is not a multiple of 8 has a struct with numbers of 8 bytes */
struct actx; struct first { struct actx *x; };
struct how { long long f, m; }; struct pair { long long a, b; };
struct actx { int t; union { struct how openat2; int z[9]; struct { int i; struct pair h; } in; }; struct how after; };
long l; struct first first; struct actx actx;
