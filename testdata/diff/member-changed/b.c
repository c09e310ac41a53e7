struct point { int x, y; };
struct shape { struct point at; unsigned long colour; char label[24]; const void *owner; float weight; int order_b, order_a; } shape;
union value { int i; long l; double d; } value;
struct come { int a; } come;
