// Attributes that become tags; gcc 12 knows none of them.
#include "types.h"

#if defined(__clang__)
#define type_tag(x) __attribute__((btf_type_tag(x)))
#define decl_tag(x) __attribute__((btf_decl_tag(x)))
#else
#define type_tag(x)
#define decl_tag(x)
#endif

struct tagged { int type_tag("user") *p; long n decl_tag("counted"); struct tagged type_tag("rcu") *type_tag("user") *q; } decl_tag("whole");
typedef struct tagged tagged_type decl_tag("typedef");
union choice { int a decl_tag("one"); char b decl_tag("two"); };

int tagged_var decl_tag("variable") __attribute__((used, section(".data..percpu")));
union choice *tagged_choice decl_tag("global");

decl_tag("function") decl_tag("twice")
noinline int tagged_function(tagged_type *t decl_tag("argument"), int type_tag("user") *p)
{
	return t->n + *p;
}
