// SPDX-License-Identifier: GPL-2.0
/* Inlined functions with one parameter each, in a different kind of place. Writing N to
   /sys/module/inlined/parameters/run runs them all; the parameters are then

	constant	0x1234567
	negative	-5
	reg		N + 1
	pointee		N + 2, read by the caller's pointer
	sum		a pointer to N + 3
	spilled		N + 4
	pair		N + 5 and N + 6
	inner		the register of outer, N + 6, and 1; inlined in an inlined function

   N is not known to the compiler, and no function keeps more than it needs to. */
#include <linux/compiler.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

struct pair { long low, high; };
struct item { long first; int pad, count; };

#define use(x) asm volatile("nop" : : "r"(x) : "memory")
#define rest() asm volatile("nop" : : : "memory")
/* More registers than there are for what must survive. */
#define use_up() asm volatile("nop" : : : "memory", "rax", "rbx", "rcx", "rdx", "rsi", "rdi", \
			      "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")

static __always_inline void site_constant(int constant) { use(constant); }
static __always_inline void site_negative(short negative) { use(negative); }
static __always_inline void site_register(long reg) { use(reg); }
static __always_inline void site_pointee(long pointee) { rest(); }
static __always_inline void site_sum(const int *sum) { asm volatile("nop" : : "m"(*sum) : "memory"); }
static __always_inline void site_spilled(long spilled) { use_up(); use(spilled); }
static __always_inline void site_pair(struct pair pair) { asm volatile("nop" : : "r"(pair.low), "r"(pair.high) : "memory"); }
static __always_inline void site_inner(long inner) { use(inner); }
static __always_inline void site_outer(long outer) { rest(); site_inner(outer + 1); }

static noinline void in_constant(void) { rest(); site_constant(0x1234567); }
static noinline void in_negative(void) { rest(); site_negative(-5); }
static noinline void in_register(long a, long b) { use(a); site_register(b); }
static noinline void in_pointee(struct item *p) { rest(); site_pointee(p->first); use(p); }
static noinline void in_sum(struct item *p) { rest(); site_sum(&p->count); use(p); }
static noinline void in_spilled(long a) { use_up(); site_spilled(a); use(a); }
static noinline void in_pair(struct pair p) { rest(); site_pair(p); use(p.low); }
static noinline void in_nested(long a) { rest(); site_outer(a); use(a); }

static int set_run(const char *text, const struct kernel_param *kp)
{
	struct item item;
	struct pair pair;
	long n;
	int err = kstrtol(text, 0, &n);

	if (err)
		return err;
	item.first = n + 2;
	item.count = n + 3;
	pair.low = n + 5;
	pair.high = n + 6;
	in_constant();
	in_negative();
	in_register(0, n + 1);
	in_pointee(&item);
	in_sum(&item);
	in_spilled(n + 4);
	in_pair(pair);
	in_nested(n + 6);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init inlined_init(void) { return 0; }
static void __exit inlined_exit(void) { }
module_init(inlined_init);
module_exit(inlined_exit);

MODULE_DESCRIPTION("Inlined functions with parameters in known places");
MODULE_LICENSE("GPL");
