#define percpu(s) __attribute__((section(".data..percpu" s)))
struct stat { long a; };
percpu("") int counter = 1;
percpu("") struct stat stats;
percpu("") int last = 3;
percpu("") static __attribute__((used)) short gone = 4;
int plain = 5;
static __attribute__((used)) int linkage = 6;
