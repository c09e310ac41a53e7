struct point { int x, y; };
struct shape { struct point at; unsigned colour; char label[16]; void *owner; int old; float weight; int order_a, order_b; } shape;
union value { int i; long l; } value;
struct gone { int a; } gone;
