// A unit that adds a table only.
const unsigned int table[2] = { 1, 2 };
