struct opaque;
struct known { int a; long b; };
union choice;
struct never;
struct holder { struct opaque *o; struct known *k; union choice *c; struct never *n; } holder;
