struct flags { unsigned a:1, b:3, c:4; int plain; unsigned d:2; } flags;
struct same { unsigned x:5, y:3; } same;
