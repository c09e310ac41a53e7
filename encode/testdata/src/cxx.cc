// C++ without types that BTF has no kind for, unless REFERENCES is defined.
typedef unsigned long size_t;
namespace n { struct X; struct X { struct In; union U2; int a:3, b:5; In *p; U2 *q; enum class K : short; K *kk; }; struct X::In { int z; X *up; }; union X::U2 { int a; char b[7]; }; enum class X::K : short { A = -1, B }; }
class C { int p; protected: long q; public: int f(int a); static int cnt; static int add(int a, int b) { return a+b; } enum E { e1, e2 = 0x80000000u }; E ee; bool b; char16_t w; wchar_t wc; char32_t c32; };
int C::cnt = 1; int C::f(int a) { return a + p; }
class Der : public C { public: int v(int) { return 1; } int vv; };
template<class T, int N> struct Arr { T data[N]; T get(int i) { return data[i]; } struct Node { Node *next; T v; } *head; };
template<class T> struct Arr<T, 0> { T *none; };
Arr<int, 4> a4; Arr<n::X, 2> ax; Arr<char,0> a0; Der der; n::X::In in; n::X::U2 u2; n::X::K kk;
namespace { struct anon { int x; } an; }
inline namespace v1 { struct versioned { int v; }; } versioned vv;
struct Lam { int k; }; 
static int lam(int x) { return x + 1; }
extern "C" { int c_api(C *c, const Der *d, n::X::K k) { return c->f(3) + lam(4) + a4.get(1); } struct c_struct { int a; struct { int b, c; }; union { float f; double d; }; void (*cb)(struct c_struct *, ...); } cs; int c_api2(c_struct s, double d, bool b) { return s.a + (int)d + b; } }
using fp = int (*)(const volatile void *, ...) noexcept; fp gfp; using nul = decltype(nullptr); nul gn; long double ld; __int128 i128;
int main(int argc, char **argv) { return c_api(&der, &der, kk) + c_api2(cs, 1, true) + an.x + der.v(argc); }

#ifdef REFERENCES
// What BTF has no kind for, and what is made of it.
typedef int &intref;
struct Refs { intref t; const intref &u; int after; void (*takes)(int &); void (*plain)(int); int C::*member; int (C::*method)(int); _Complex double z; };
Refs *refs;
extern "C" int by_reference(int &a, const n::X *p) { return a + p->a; }
extern "C" int by_pointer(int *a, const Refs *r) { return *a + r->after; }
#endif
