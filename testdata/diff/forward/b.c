struct opaque { int a; long b; };
struct known;
union choice { int a; long b; };
struct late;
struct holder { struct opaque *o; struct known *k; union choice *c; struct late *n; } holder;
