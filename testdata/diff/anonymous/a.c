struct packet {
	int len;
	union { int raw; struct { short lo, hi; }; };
	struct { char a, b; } pair;
	struct { int deep; struct { int deeper; } *in; } *table[4];
	union { long first; int second; };
} packet;
typedef struct { int counter; } count_t;
typedef struct { int counter; } same_t;
count_t count;
same_t same;
