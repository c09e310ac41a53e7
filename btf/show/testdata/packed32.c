/* gcc -m32: numbers of 8 bytes lie at multiples of 4, which pahole takes as a sign of packing */
struct vcpu; struct first { struct vcpu *v; };
struct pmu { int n; long long c; char d; long long e; char f; }; struct pair { long long a, b; }; struct half { long long a; int b; };
struct arch { int a; long long b; struct pmu pmu; struct pair osvw; struct { long long l, s; } un; struct { int i; struct pair p; char c; } deep; struct half h[2]; char pad; };
struct vcpu { int x; struct arch arch; char end; };
struct low { int a; struct pair p; int c; }; struct twice { struct low l; struct arch a; char c; };
struct how { long long f, m; }; struct actx { int t; union { struct how openat2; int z[9]; struct { int i; struct how h; } in; }; struct how after; };
struct late { struct how how; }; union both { struct pair p; struct late l; int z[7]; struct arch a; };
long l; struct first first; struct vcpu vcpu; struct twice twice; struct actx actx; struct late late; union both both;
