// What several units share.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct list { struct list *next, *prev; };
enum state { IDLE, BUSY = 5, GONE };
struct forward;
struct common { struct forward *ahead; struct list all; u32 __kabi_one, __kabi_two; void (*call)(struct common *, u64); };

#define noinline __attribute__((noinline, used))
