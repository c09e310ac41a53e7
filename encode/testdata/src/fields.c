/* Bit-fields as wide as their type, aligned and not, and names with a common
   prefix: for --fixup_silly_bitfields and --kabi_prefix. */
typedef unsigned int u32;
typedef u32 uu32;
enum kabi_level { kabi_low, kabi_high };

struct all_whole { int a : 32; int b : 32; };
struct __attribute__((packed)) odd { int a : 3; int b : 32; int c : 5; };
struct __attribute__((packed)) odd_bytes { char z; int b : 32; short s; short t : 16; };
struct qualified {
	u32 a : 32; uu32 b : 32; const int c : 32; volatile uu32 d : 32;
	enum kabi_level e : 32; _Bool f : 1; unsigned long long g : 64;
};
struct nested { struct { int a : 32; int x : 1; }; union { short b : 16; int c; } u; };

struct kabi_reserved { int kabi_field1; long kabi_field2; struct nested *kabi; };
typedef struct kabi_reserved kabi_type;
union kabi_u { int i; kabi_type k; };

struct all_whole whole;
struct odd odd;
struct odd_bytes odd_bytes;
struct qualified qualified;
int kabi_var __attribute__((section(".data..percpu"))) = 1;

__attribute__((noinline)) int kabi_function(kabi_type *kabi_p, union kabi_u *u) { return kabi_p->kabi_field1 + u->i; }
__attribute__((noinline)) int plain(kabi_type *kabi_p, int kabi) { return kabi_p->kabi_field1 + kabi; }
int _start(void)
{
	union kabi_u u = { 3 };
	return whole.a + odd.a + odd_bytes.b + qualified.a + kabi_var + kabi_function(&u.k, &u) + plain(&u.k, 2);
}
