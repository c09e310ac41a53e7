/* Counts calls of a kernel function and of a module function, and reads a
   field whose place comes from BTF when the program is loaded (CO-RE). */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

__u64 kernel_calls, module_calls, name_bytes;

SEC("fentry/statfs_by_dentry")
int BPF_PROG(on_kernel, struct dentry *dentry)
{
	kernel_calls++;
	name_bytes += BPF_CORE_READ(dentry, d_name.len);
	return 0;
}

SEC("fentry/ovl_statfs")
int BPF_PROG(on_module, struct dentry *dentry)
{
	module_calls++;
	return 0;
}
