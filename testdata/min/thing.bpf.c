// A BPF program for tests of CO-RE relocations against the types of ../split. Its objects:
//   clang -g -O2 -target bpf -c thing.bpf.c -o thing.bpf.o && llvm-strip -g thing.bpf.o     (-target bpfeb: thing.eb.bpf.o)
// clang 19. Nothing is included, so that it compiles anywhere.
#define CORE __attribute__((preserve_access_index))
#define SEC(name) __attribute__((section(name), used))

struct hidden { short b; } CORE;
enum wide { WIDE_A = 1, WIDE_C = 2 };
struct thing {
	struct thing *next;
	int count;
	struct { struct hidden *h; unsigned int more : 9; } part;
	const char *label;
	long gone;
	enum wide w;
} CORE;
struct thing___old { int counter; } CORE;
union word { char bytes[4]; } CORE;
struct flags { int ratio; } CORE;
struct narrow { int a; };

volatile long sink;

SEC("raw_tp/thing") int thing(struct thing *t)
{
	sink += (long)&t->next->count + (long)&t->part.h->b + (long)&t->label;
	sink += __builtin_preserve_field_info(t->part.more, 0) + __builtin_preserve_field_info(t->part.more, 4);
	sink += (long)&((union word *)t)->bytes[2];
	sink += __builtin_preserve_type_info(*(union word *)0, 1);
	sink += __builtin_preserve_enum_value(*(typeof(enum wide) *)WIDE_A, 1);
	return 0;
}

SEC("raw_tp/maybe") int maybe(struct thing *t)
{
	if (__builtin_preserve_field_info(((struct thing___old *)t)->counter, 2))
		sink += (long)&((struct thing___old *)t)->counter;
	sink += __builtin_preserve_enum_value(*(typeof(enum wide) *)WIDE_C, 0);
	sink += __builtin_preserve_type_info(*(struct narrow *)0, 0);
	sink += (long)&t->gone + (long)&((struct flags *)t)->ratio;
	return 0;
}
