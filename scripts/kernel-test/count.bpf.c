/* Counts calls of a kernel function and of a module function, and reads a
   field whose place comes from BTF when the program is loaded (CO-RE). */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

/* Calls in the kernel, calls in the module, bytes of names. A map of its own:
   global variables need CONFIG_NET, by which libbpf tries whether they work. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static void count(__u32 what, __u64 n)
{
	__u64 *sum = bpf_map_lookup_elem(&counts, &what);

	if (sum)
		*sum += n;
}

SEC("fentry/statfs_by_dentry")
int BPF_PROG(on_kernel, struct dentry *dentry)
{
	count(0, 1);
	count(2, BPF_CORE_READ(dentry, d_name.len));
	return 0;
}

SEC("fentry/ovl_statfs")
int BPF_PROG(on_module, struct dentry *dentry)
{
	count(1, 1);
	return 0;
}
