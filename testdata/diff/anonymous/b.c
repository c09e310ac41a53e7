struct packet {
	int len;
	union { long cookie; };
	union { int raw; struct { short lo; unsigned short hi; }; char bytes[4]; };
	struct { char a, b, c; } pair;
	struct { int deep; struct { int deeper, deepest; } *in; } *table[4];
	union { long first; int second; };
} packet;
typedef struct { long counter; } count_t;
typedef struct { int counter; } same_t;
count_t count;
same_t same;
