module github.com/btflite/btflite

go 1.26.0

require (
	github.com/edsrzf/mmap-go v1.2.0
	github.com/klauspost/compress v1.20.3
	golang.org/x/sys v0.49.0
)
