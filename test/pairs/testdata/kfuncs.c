// Sets of kfuncs as kernels have them in .BTF_ids, and percpu variables.
#include "types.h"

#define ID(name, words) asm( \
	".pushsection .BTF_ids, \"a\"\n" \
	".type " name ", STT_OBJECT\n.size " name ", 4\n" \
	name ":\n" words ".popsection\n")

noinline int kfunc_one(struct common *c, u64 n) { return !c + n; }
noinline void *kfunc_two(struct list *l, u32 flags) { return l->next + flags; }
noinline int no_kfunc(int a) { return a; }

asm(".pushsection .BTF_ids, \"a\"\n"
    ".balign 4\n"
    ".type __BTF_ID__set8__some_kfuncs, STT_OBJECT\n"
    ".size __BTF_ID__set8__some_kfuncs, 24\n"
    "__BTF_ID__set8__some_kfuncs: .long 2, 1\n"
    ".popsection\n");
ID("__BTF_ID__func__kfunc_one__1", ".long 0, 0x9\n");
ID("__BTF_ID__func__kfunc_two__2", ".long 0, 0x12\n");
asm(".pushsection .BTF_ids, \"a\"\n"
    ".type __BTF_ID__set__not_kfuncs, STT_OBJECT\n"
    ".size __BTF_ID__set__not_kfuncs, 8\n"
    "__BTF_ID__set__not_kfuncs: .long 1\n"
    ".popsection\n");
ID("__BTF_ID__func__no_kfunc__3", ".long 0\n");

__attribute__((used, section(".data..percpu"))) struct common *kfunc_state;
