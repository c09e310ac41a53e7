// Package tree holds the rules of the source tree as tests: which package imports which, how
// long files and functions may be, where goroutines and output begin, and which modules the
// program is made of. CONTRIBUTING.md lists the rules, ARCHITECTURE.md says what they are for.
package tree
