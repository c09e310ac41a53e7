// A BPF program for tests: it needs a type of a module of ../split. Compiled as thing.bpf.c.
#define CORE __attribute__((preserve_access_index))
#define SEC(name) __attribute__((section(name), used))

struct mine { struct mine *self; struct { int count; } t; } CORE;

volatile long sink;

SEC("raw_tp/mine") int mine(struct mine *m)
{
	sink += (long)&m->self->t.count;
	sink += __builtin_preserve_type_info(*(struct mine *)0, 2);
	return 0;
}
