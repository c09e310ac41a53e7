// C++ with references and pointers to members, which BTF cannot say.
struct thing { int value; int &ref; int thing::*member; int method(const thing &t) { return t.value; } };
thing *global_thing;
extern "C" __attribute__((noinline, used)) int by_reference(int &a, thing &&t) { return a + t.value; }
extern "C" __attribute__((noinline, used)) int by_pointer(thing *t) { return t->value; }
