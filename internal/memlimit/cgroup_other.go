//go:build !linux

package memlimit

// Cgroup is the memory limit of the process' control groups: none here.
func Cgroup() uint64 { return 0 }

// Used is the anonymous memory of the process, which is not known here.
func Used() uint64 { return 0 }

// Resident is all memory of the process, which is not known here.
func Resident() uint64 { return 0 }

// Peak is the largest value that Resident has had, which is not known here.
func Peak() uint64 { return 0 }

// Available is how many bytes programs may still take, which is not known here.
func Available() uint64 { return 0 }

// CountFiles does nothing here.
func CountFiles() {}

// AddFile does nothing here.
func AddFile(uint64) {}

// Killed returns 0: there are no control groups here.
func Killed() uint64 { return 0 }

// EndFirst does nothing here.
func EndFirst(int) {}

// InMemory is not known here.
func InMemory(string) bool { return false }

// LimitReadAhead does nothing here.
func LimitReadAhead() {}

// DropCode does nothing here.
func DropCode() {}
