typedef unsigned char u8; typedef unsigned int u32; typedef unsigned short u16;
struct eight { u32 a[8]; };
struct five { u32 a, b, c, d, e; };
/* A member of more than a word goes to the first word of a hole. */
struct large { u32 first; long big __attribute__((aligned(128))); long q[15]; struct eight z, y, x; };
/* After each move the search begins anew, first for members with holes. */
struct again { u32 a[3]; void *ah[2]; u16 i, k; u8 en, sq, max, dest, rnr; u32 port; u8 t, retry, r; u32 alt; u8 at; u32 rate; void *p; };
struct from_end { void *o; u16 hop; u8 p, t, s; void *daddr; u8 m; u32 f, u, c; union { struct { u16 x:1, y:1; } bits; u16 all; } rx; u8 src, min; u32 flow; struct five st; void *pkt, *q; };
/* What is freed beside a bit-field belongs to its unit. */
struct before { u16 l; void *q; u32 x:1, y:1; u8 g; void *p; u32 n; u8 s; void *r; };
struct behind { void *a; u32 b; void *v; char c[18]; u32 d[7]; u32 l; u16 h; u32 x:1; };
struct large large; struct again again; struct from_end from_end; struct before before; struct behind behind;
