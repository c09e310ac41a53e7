// What makes a file a module: .modinfo and struct module in its section.
#include "types.h"

struct module { enum state state; struct list list; char name[56]; int (*init)(void); struct common *common; };

__attribute__((used, section(".gnu.linkonce.this_module"))) struct module __this_module = { .name = "module" };
__attribute__((used, section(".modinfo"))) static const char vermagic[] = "vermagic=6.12.0 SMP";
__attribute__((used, section(".data..percpu"))) static int module_percpu = 1;
static noinline int module_static(int a, struct list *l) { return a + !l; }
int init_module(void) { return module_static(module_percpu, &__this_module.list); }
