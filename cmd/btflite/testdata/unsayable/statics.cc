struct S { int a; static int gone1; static const int gone2 = 7; int b; };
union U { int x; static unsigned gone3; char z[8]; };
template <class T> struct V { T v; static T gone4; };
struct Only { static int gone5; };
namespace {
struct Hidden { static int gone6; short s; };
int Hidden::gone6;
}
int S::gone1;
unsigned U::gone3;
template <class T> T V<T>::gone4;
int Only::gone5;
S s;
U u;
V<int> v;
Only o;
Hidden h;
int sum() { return s.a + u.x + v.v + h.s + S::gone2 + V<int>::gone4 + Hidden::gone6; }
