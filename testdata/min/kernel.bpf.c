// A BPF program for tests of CO-RE relocations against whole kernels: TestKernelAgainstBpftool.
// Compiled as thing.bpf.c. It has relocations of every kind, and some that find nothing.
#define CORE __attribute__((preserve_access_index))
#define SEC(name) __attribute__((section(name), used))
#define EXISTS(x) __builtin_preserve_field_info(x, 2)
#define TYPE(t, info) __builtin_preserve_type_info(*(typeof(t) *)0, info)
#define VALUE(e, v, info) __builtin_preserve_enum_value(*(typeof(enum e) *)v, info)
typedef unsigned long long u64;
typedef struct { int counter; } atomic_t;

struct inode { unsigned long i_ino; } CORE;
struct file { struct inode *f_inode; } CORE;
struct mm_struct { struct file *exe_file; } CORE;
struct task_struct {
	struct task_struct *group_leader;
	int tgid;
	struct mm_struct *mm;
	void *nsproxy;
	char comm[16];
	atomic_t usage;
} CORE;
struct task_struct___none { int nothing_like_this; } CORE;
struct sk_buff { unsigned char pkt_type : 3; unsigned int len; } CORE;
struct tcp_sock { unsigned char nonagle : 4; } CORE;
struct net_device { char name[16]; int ifindex; } CORE;
struct sock_common { unsigned short skc_num; unsigned int skc_daddr; } CORE;
struct sock { struct sock_common __sk_common; } CORE;
struct list_head___m { struct list_head___m *next, *prev; };
struct list_head___bad { struct list_head___bad *next; int prev; };
struct path { void *mnt, *dentry; };
struct path___m { struct vfsmount *mnt; struct dentry *dentry; };
struct nothing_at_all { int a; } CORE;
struct work_struct;
typedef void (*work_func_t)(struct work_struct *);
union bpf_attr { int map_type; };
enum bpf_map_type { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_RINGBUF = 27 };
enum bpf_map_type___x { BPF_MAP_TYPE_HASH___x = 77, BPF_MAP_TYPE_NOPE___x = 99 };

volatile u64 sink;

SEC("raw_tp/fields") int fields(void *ctx)
{
	struct task_struct *t = ctx;
	struct sk_buff *skb = ctx;
	sink += (u64)&t->group_leader->tgid + (u64)&t->mm->exe_file->f_inode->i_ino + (u64)&t->usage.counter;
	sink += EXISTS(t->nsproxy) + EXISTS(((struct task_struct___none *)ctx)->nothing_like_this);
	sink += __builtin_preserve_field_info(t->comm, 1) + (u64)&t->comm[3];
	for (int i = 0; i < 1; i++)
		sink += __builtin_preserve_field_info(skb->pkt_type, 0) + __builtin_preserve_field_info(skb->pkt_type, 3) +
			__builtin_preserve_field_info(skb->pkt_type, 4) + __builtin_preserve_field_info(skb->pkt_type, 5);
	sink += __builtin_preserve_field_info(((struct tcp_sock *)ctx)->nonagle, 1);
	sink += (u64)&((struct net_device *)ctx)->name + (u64)&((struct net_device *)ctx)->ifindex;
	sink += (u64)&((struct sock *)ctx)->__sk_common.skc_num + (u64)&((struct sock *)ctx)->__sk_common.skc_daddr;
	sink += EXISTS(((struct nothing_at_all *)ctx)->a);
	return 0;
}

SEC("raw_tp/types") int types(void *ctx)
{
	sink += TYPE(struct net_device, 0) + TYPE(struct nothing_at_all, 0) + TYPE(work_func_t, 0) + TYPE(atomic_t, 0);
	sink += TYPE(struct inode, 1) + TYPE(union bpf_attr, 1);
	sink += __builtin_btf_type_id(*(struct inode *)0, 1) + __builtin_btf_type_id(*(struct inode *)0, 0);
	sink += TYPE(struct list_head___m, 2) + TYPE(struct list_head___bad, 2) + TYPE(struct path, 2) + TYPE(struct path___m, 2) + TYPE(work_func_t, 2);
	sink += VALUE(bpf_map_type, BPF_MAP_TYPE_RINGBUF, 0) + VALUE(bpf_map_type___x, BPF_MAP_TYPE_HASH___x, 1);
	sink += VALUE(bpf_map_type___x, BPF_MAP_TYPE_NOPE___x, 0);
	return 0;
}
