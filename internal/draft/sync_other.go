//go:build !unix

package draft

// SyncDir does nothing: folders cannot be synchronised here.
func SyncDir(string) error { return nil }
