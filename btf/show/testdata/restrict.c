struct a_long_name_of_a_struct {
	char *restrict fits;
	unsigned long *restrict does_not;
	struct a_long_name_of_a_struct *restrict self;
	struct a_long_name_of_a_struct *restrict array[2];
	struct a_long_name_of_a_struct *const restrict constant;
	struct a_long_name_of_a_struct *volatile restrict often;
	const struct a_long_name_of_a_struct *restrict of_constant;
	struct a_long_name_of_a_struct *restrict *pointer;
	int (*takes)(int *restrict, const char *restrict, int *restrict const *);
	unsigned long *restrict (*gives)(void);
	struct { unsigned long *restrict inner; } without;
} v;
typedef unsigned long *restrict named;
struct of_names { named name; named *names; } w;
