// SPDX-License-Identifier: MIT
// A unit whose inlined function has the name of another unit's real one, with
// another prototype.
#include "shared.h"

struct own { int x; };

static inline __attribute__((always_inline)) int not_inlined(struct own *own) { return own->x; }
int user_of_own(struct own *own) { return not_inlined(own) + not_inlined(own + 1); }
