// Load a BPF object with the types of another kernel, and print its instructions as libbpf
// has relocated them: the name of each program, then an instruction a line. The kernel may
// refuse the programs afterwards: libbpf relocates all of them first.
//
//	cc -o relocate relocate.c -lbpf && ./relocate PROGRAM.bpf.o KERNEL.btf
//
// Status 3: this kernel lets the user load nothing.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

static int relocated;

static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	if (strstr(line, ": relo #"))
		relocated = 1;
	if (level == LIBBPF_WARN && !relocated)
		fputs(line, stderr);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	libbpf_set_print(print);
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = argv[2]);
	struct bpf_object *obj = bpf_object__open_file(argv[1], &opts);
	if (!obj) {
		fprintf(stderr, "open: %s\n", strerror(errno));
		return 1;
	}
	int err = bpf_object__load(obj);
	if (err && !relocated) {
		fprintf(stderr, "load: %s\n", strerror(-err));
		return err == -EPERM ? 3 : 1;
	}
	struct bpf_program *prog;
	bpf_object__for_each_program(prog, obj) {
		const struct bpf_insn *insn = bpf_program__insns(prog);
		size_t n = bpf_program__insn_cnt(prog);

		printf("program %s\n", bpf_program__name(prog));
		for (size_t i = 0; i < n; i++)
			printf("%02x %x %x %d %d\n", insn[i].code, insn[i].dst_reg, insn[i].src_reg, insn[i].off, insn[i].imm);
	}
	return 0;
}
