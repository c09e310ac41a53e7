// Show what libbpf makes of the BTF of a BPF object for a kernel that does not know kinds
// above KIND. There is no kernel: bpf() is answered here. BPF_BTF_LOAD refuses other kinds, and
// the BTF with a type MARK that it takes goes to OUT.
//
//	cc -rdynamic -o sanitize sanitize.c -lbpf && ./sanitize PROGRAM.bpf.o KIND MARK OUT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/btf.h>

static unsigned last;           // KIND
static const char *mark, *out;

// How many words follow the three of each record, by kind: for the record, and for each element.
static const unsigned char more[20][2] = {
	[BTF_KIND_INT] = {1, 0}, [BTF_KIND_ARRAY] = {3, 0}, [BTF_KIND_STRUCT] = {0, 3}, [BTF_KIND_UNION] = {0, 3}, [BTF_KIND_ENUM] = {0, 2},
	[BTF_KIND_FUNC_PROTO] = {0, 2}, [BTF_KIND_VAR] = {1, 0}, [BTF_KIND_DATASEC] = {0, 3}, [17] = {1, 0}, [19] = {0, 3},
};

static int known(const struct btf_header *h)
{
	const unsigned *p = (const void *)((const char *)h + h->hdr_len + h->type_off), *end = p + h->type_len / 4;

	while (p < end) {
		unsigned kind = p[1] >> 24 & 31;

		if (kind > last || (kind == BTF_KIND_ENUM && p[1] >> 31 && last < 19))
			return 0;
		p += 3 + more[kind][0] + (p[1] & 0xffff) * more[kind][1];
	}
	return 1;
}

long syscall(long nr, ...)
{
	long a[6];
	va_list args;

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (nr != __NR_bpf) {
		long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
		return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	if (a[0] == BPF_BTF_LOAD) {
		const union bpf_attr *attr = (const void *)a[1];
		const void *data = (const void *)attr->btf;

		if (!known(data)) {
			errno = EINVAL;
			return -1;
		}
		if (memmem(data, attr->btf_size, mark, strlen(mark))) {
			FILE *f = fopen(out, "w");
			fwrite(data, 1, attr->btf_size, f);
			fclose(f);
		}
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int silent(enum libbpf_print_level level, const char *format, va_list args) { return 0; }

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	last = atoi(argv[2]), mark = argv[3], out = argv[4];
	libbpf_set_print(silent);
	struct bpf_object *obj = bpf_object__open_file(argv[1], NULL);
	if (!obj)
		return 1;
	bpf_object__load(obj); // it may fail later: no kernel has its programs and maps
	return 0;
}
