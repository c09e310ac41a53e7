module github.com/btflite/btflite/test/library

go 1.26.8

require (
	github.com/btflite/btflite v0.0.0
	github.com/cilium/ebpf v0.22.0
	github.com/google/go-cmp v0.7.0
)

require (
	github.com/RoaringBitmap/roaring/v2 v2.30.0 // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/edsrzf/mmap-go v1.2.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/mikelolasagasti/xz v1.0.1 // indirect
	github.com/mschoch/smat v0.2.0 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/btflite/btflite => ../..
