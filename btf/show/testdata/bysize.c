/* Types of one name, all of which differ in size, or in names or places of members. */
typedef unsigned int u32; typedef unsigned long long u64; typedef unsigned short u16;
#define F(n, ...) void n(void) { __VA_ARGS__ (void)A;(void)B;(void)C;(void)D;(void)E;(void)G; }
F(f1, struct a { u64 z; } A; struct b { u16 a1; u32 b1; } B; struct c { u32 m, n; } C; struct d { u32 x:4, y:4; } D; struct e { u32 p; u32 q[3]; } E; struct g { u64 k; u64 l; u64 m; } G;)
F(f2, struct a { u32 b, c; } A; struct b { u32 a0; u16 b0; } B; struct c { u32 k, n; } C; struct d { u32 w:6, y:2; } D; struct e { u32 p[2]; u32 o[2]; } E; struct g { u64 k; u32 l; u32 ma; u64 m; } G;)
F(f3, struct a { u16 a, b, c, d; } A; struct b { u16 a2, b2; u32 c2; } B; struct c { u32 l, a; } C; struct d { u32 z:2, y:6; } D; struct e { u32 a[3]; u32 z; } E; struct g { u64 k; u64 j; u64 m; } G;)
