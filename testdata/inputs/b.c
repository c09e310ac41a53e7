#include "types.h"

struct late { struct device *owner; u8 name[16]; long double weight; };
enum other { LARGE = 0x100000000 };

u8 b_name(struct late *l, u32 i) { return l->name[i]; }
enum other b_other(struct late *l) { return l->owner->hw.id[0] ? LARGE : 0; }
