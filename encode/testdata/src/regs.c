// SPDX-License-Identifier: MIT
// For relocatable files: variables in every kind of section, parameters whose
// locations change, and one of which only a bit-field of the second half is
// passed on.
struct pair {
	long a;
	char b;
	int c : 3;
};

__thread int in_tls;
int in_common;
static int in_data = 3;
__attribute__((section(".data..percpu"))) struct pair percpu = {1, 2, 3};
__attribute__((section(".data..percpu"))) static int percpu_second = 4;

extern int outside(int, int);

int moves(struct pair *p, int x, long y)
{
	int r = 0;

	for (int i = 0; i < x; i++) {
		r += outside(i, y) * p->a;
		if (r > 100) {
			r -= outside(r, i);
			y = r;
		}
	}
	return r + percpu_second + in_tls + in_common + in_data;
}

static __attribute__((noinline)) int member(int unused, struct pair s, double d)
{
	return outside(s.c, (int)d);
}

int whole(struct pair s)
{
	return member(1, s, 2.5) + moves(&s, 4, 5);
}
