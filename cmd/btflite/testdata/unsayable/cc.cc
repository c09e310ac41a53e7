struct B { int x; virtual ~B(); };
struct B2 { long y; };
struct V { int v; };
class C : public B, public B2, virtual V {
public:
	int &ref;
	int &&rref;
	const B &cref;
	int B::*pm;
	void (B::*pmf)(int);
	int (&aref)[3];
	void (&fref)(int);
	decltype(nullptr) n;
	char tail;
	static int stat;
	int method(int);
	C();
	enum class S : unsigned long { q = 1 } s;
	unsigned f : 3;
};
namespace ns {
struct In { B &r; };
int nsf(In &i) { return i.r.x; }
}
template <class T, int N> struct Tmpl { T &r; T a[N]; };
struct Empty {};
struct Der : Empty { int x; };
typedef int &intref;
typedef decltype(nullptr) np;
using pmt = int B::*;
struct Uses { intref r; np n; pmt p; Tmpl<int, 3> t; bool b; };
int C::stat;
C::C() : ref(stat), rref(static_cast<int &&>(stat)), cref(*this), aref(*(int (*)[3])0), fref(*(void (*)(int))0) {}
int C::method(int a) { return ref + a; }
B::~B() {}
int &retref(int &a, int &&b, const B &c, int B::*d, void (B::*e)(int), decltype(nullptr)) { return a; }
Uses *uses(Uses *u, Der d, C *c) { return u->b ? u : nullptr; }
extern "C" int plain(int &x) { return x; }
