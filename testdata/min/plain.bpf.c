// A BPF program without CO-RE relocations, for tests. Compiled as thing.bpf.c.
__attribute__((section("raw_tp/plain"), used)) int plain(void *x)
{
	return x != 0;
}
