/* Shared by three units that are linked in several orders. */
typedef unsigned char u8;
typedef unsigned int u32;
struct late;
struct list { struct list *next, **prev; };
union word { u32 whole; struct { u8 low, high; }; struct { u32 bit : 1, rest : 31; }; };
enum state { OFF, ON, WAIT = 7 };
typedef int (*handler)(struct late *, const union word *, enum state);
struct device {
	struct list list;
	union word word;
	union { handler call; struct late *late; };
	struct { u8 id[6]; volatile u32 *reg; } hw;
};
