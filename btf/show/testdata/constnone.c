struct s { short x; };
typedef struct s s_t;
typedef const struct s array_t[0];
struct a { int n; const struct s last[]; };
struct b { const int first[0]; int n; const s_t of_typedef[0]; const struct s outer[0][2]; const struct s inner[2][0]; volatile const struct s both[0]; };
struct c { const char *const pointers[0]; array_t of_array; const array_t constant; const enum { A } of_enum[0]; const struct { int a; } of_unnamed[0]; };
union u { const struct s in_union[0]; int n; };
struct a va; struct b vb; struct c vc; union u vu;
