// C++ without what BTF has no kind for.
namespace space { struct inner { int a : 3; struct deep; deep *d; enum class scoped : short { first = -1 } s; }; struct inner::deep { inner *up; }; }
class base { int hidden; protected: long shown; public: static int shared; int method(int a) { return a + hidden; } };
class derived : public base { public: bool yes; char16_t c16; wchar_t wide; };
template <class T, int N> struct array { T data[N]; array *next; };
int base::shared = 3;
array<int, 4> numbers;
array<space::inner, 2> inners;
derived global_derived;
space::inner::deep deep_one;
decltype(nullptr) null_one;
extern "C" __attribute__((noinline, used)) int c_function(derived *d, space::inner *i, array<int, 4> a) { return d->method(i->a) + a.data[0]; }
