// SPDX-License-Identifier: MIT
// Attributes that clang turns into tags.
#define TYPE_TAG(x) __attribute__((btf_type_tag(x)))
#define DECL_TAG(x) __attribute__((btf_decl_tag(x)))
#define USER TYPE_TAG("user")
#define RCU TYPE_TAG("rcu")

struct DECL_TAG("structure") tagged {
	int USER *user;
	int DECL_TAG("first") DECL_TAG("second") both;
	struct tagged RCU USER *next;
} DECL_TAG("again");

union DECL_TAG("union") choice { int i DECL_TAG("i"); char USER *RCU *p; };

typedef struct tagged tagged_t DECL_TAG("typedef");

int global DECL_TAG("variable") __attribute__((used, section(".data..percpu")));
static int plain __attribute__((used, section(".data..percpu")));

DECL_TAG("function") int tagged_function(tagged_t *t DECL_TAG("argument"), int USER *p, union choice *c DECL_TAG("choice"))
{
	return t->both + (p == t->user) + global + plain + c->i;
}

void _start(void) { tagged_function(0, 0, 0); }
