enum state { IDLE, RUNNING, PAUSED, STOPPED = 8 } state;
enum sign { NONE, SOME, LESS = -1 } sign;
enum wide { SMALL = 1, LARGE = 0x100000000 } wide;
enum ordered { SECOND = 2, FIRST = 1 } ordered;
struct uses { enum { RED, GREEN, BLUE } colour; } uses;
int limits(int x) { enum { LIMIT_A = 10, LIMIT_B = 30 } e = x; return e == LIMIT_A; }
