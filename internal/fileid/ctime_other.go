//go:build !linux

package fileid

import "os"

// changeTime has another name on each system. The time of the last write, which has
// one, is compared everywhere.
func changeTime(os.FileInfo) int64 { return 0 }
