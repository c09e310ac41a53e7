extern long table[];
void eat(long);
__attribute__((cold, noreturn)) void die(int);
static inline __attribute__((always_inline)) void check(long *p, int k)
{
	if (*p > k)
		die(k);
	eat(*p);
}
void one(int a)
{
	eat(1);
	check(&table[3], a);
	eat(2);
}
void two(int a)
{
	eat(a);
	check(table, 700);
	eat(3);
}
long table[9];
void eat(long x) { table[x] = x; }
void die(int x) { for (;;) table[x]++; }
int main(void)
{
	one(1);
	two(2);
	return 0;
}
