// A unit without types.
void nothing(void) {}
