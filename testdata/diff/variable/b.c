#define percpu(s) __attribute__((section(".data..percpu" s)))
struct stat { long a; long b; };
percpu("") int counter = 1;
percpu("") struct stat stats;
percpu("") int last = 3;
percpu("") char come = 4;
__attribute__((section(".other"))) int plain = 5;
int linkage = 6;
