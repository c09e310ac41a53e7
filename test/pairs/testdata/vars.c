// Variables of every place and kind.
#include "types.h"

#define in(s) __attribute__((used, section(s)))

in(".data..percpu") int cpu_number;
in(".data..percpu") static u64 cpu_cookie = 3;
in(".data..percpu") struct list cpu_list[2];
in(".data..percpu.first") char cpu_first;
in(".data.special") long special = 1;
in("special_set") struct common *member;
int common_block;
int zeroed, filled = 5;
static int hidden = 2, hidden_zero;
const int constant = 9;
static const char text[] = "text";
const char *const pointers[] = { text, "b" };
extern int elsewhere;
volatile u8 shaky = 1;
int empty_array[0];
struct {} empty_struct;
int first asm("renamed") = 1;
_Bool yes = 1;
long double longest = 2;
__attribute__((weak)) int weakling = 4;
_Thread_local int threads = 1;

int use_vars(void)
{
	static int inner = 4;
	return inner++ + hidden + hidden_zero + text[inner & 1];
}
