struct flags { unsigned a:1, b:4, c:4; int plain; unsigned d; } flags;
struct same { unsigned x:5, y:3; } same;
