#include "shared.h"
struct other { char c; struct item *back; };
PERCPU static atomic percpu_third;
__attribute__((weak)) int weak_one(void *own) { return own != 0; }
static __attribute__((noinline)) int variadic(const char *format, ...) { return *format; }
long third(const struct node *node, atomic count) { return sum(node) + node->other->c + count.counter + percpu_third.counter + variadic("x", 2) + tiny(items, 0); }
__attribute__((section(".init.text"))) int in_init(enum state s) { return s == BROKEN; }
