enum state { IDLE, RUNNING, STOPPED = 7, DEAD } state;
enum sign { NONE, SOME } sign;
enum wide { SMALL = 1, LARGE = 100 } wide;
enum ordered { FIRST = 1, SECOND = 2 } ordered;	/* written in another order: no difference */
struct uses { enum { RED, GREEN } colour; } uses;
int limits(int x) { enum { LIMIT_A = 10, LIMIT_B = 20 } e = x; return e == LIMIT_A; }
