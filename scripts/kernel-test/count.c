/* Loads count.bpf.o, calls statfs on a file of an overlay, and prints what the
   programs have counted: count.bpf.o FILE CALLS. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>

int main(int argc, char **argv)
{
	struct bpf_object *obj;
	struct bpf_program *prog;
	struct bpf_map *map;
	unsigned long long counts[3] = {0};
	struct statfs st;

	if (argc != 4)
		return 2;
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj || bpf_object__load(obj)) {
		fprintf(stderr, "count: cannot load %s\n", argv[1]);
		return 1;
	}
	bpf_object__for_each_program(prog, obj) {
		if (!bpf_program__attach(prog)) {
			fprintf(stderr, "count: cannot attach %s\n", bpf_program__name(prog));
			return 1;
		}
	}
	for (int i = atoi(argv[3]); i > 0; i--) {
		if (statfs(argv[2], &st)) {
			perror(argv[2]);
			return 1;
		}
	}
	map = bpf_object__find_map_by_name(obj, "counts");
	for (unsigned i = 0; i < 3; i++) {
		if (!map || bpf_map_lookup_elem(bpf_map__fd(map), &i, &counts[i])) {
			fprintf(stderr, "count: cannot read the counters\n");
			return 1;
		}
	}
	printf("count: kernel %llu module %llu name bytes %llu\n", counts[0], counts[1], counts[2]);
	return 0;
}
