struct thing;
struct opaque;
union shut;
typedef unsigned int u32;
typedef u32 (*callback)(const char *name, struct thing *t);
enum narrow { NARROW_A, NARROW_B = 7 };
enum wide { WIDE_A = 1, WIDE_B = 0x123456789abull };
union word { long value; char bytes[8]; };
struct hidden { short a, b; };
struct flags { unsigned bits : 5; float ratio; };
#ifdef __clang__
#define TAG __attribute__((btf_type_tag("user")))
#else
#define TAG
#endif
struct thing {
	int count;
	struct thing *next;
	struct {
		u32 low;
		unsigned some : 3, more : 7;
		struct hidden *h;
		callback call[3];
		char TAG *text;
		union shut *shut;
		enum { INNER_A, INNER_B } inner;
	} part;
	union { volatile long stamp; const char *restrict label; struct opaque *o; };
	enum wide w;
	double scale;
	_Bool on;
};
