# btflite: targets for people; CI runs `make lint test`.
#
#   make run [VMLINUX=FILE] [JOBS=N]  build, encode FILE (or a small program
#                                     of the repository), print a summary
#   make test           vet and every test; CI=true adds a full-size kernel
#   make lint           go vet, staticcheck, govulncheck (needs the module proxy)
#   make test-kernels   only the comparison with pahole on full-size kernels
#   make kernel-test    build kernels with PAHOLE=btflite, boot them in qemu
#   make test-modules   compare the modules of KERNEL with pahole's, into BENCHMARKS.md
#   make release        programs for all systems and SHA256SUMS, in build/release
#   make bench          measure and write BENCHMARKS.md
#   make torture        encode damaged files and write RELIABILITY.md
#   make fuzz           every fuzz target for FUZZTIME
#   make testdata       compile testdata/small again
#   make golden         write the golden BTF again with pahole

VMLINUX  ?= testdata/small/small
JOBS     ?= 2
FUZZTIME ?= 30s
KERNELS  ?= pahole v72-amd64
BENCHFLAGS ?=
SERIES   ?= 7.2 6.1
KERNEL   ?= v612-amd64
TORTUREFLAGS ?=

# Expanded by the shell: the folder of kernels and the pahole in it.
CORPUS = $${BTFLITE_CORPUS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/btflite-corpus}
PAHOLE = $${BTFLITE_PAHOLE:-$(CORPUS)/bin/pahole}

.PHONY: all build release run lint test test-go test-kernels kernel-test test-modules packages bench torture fuzz testdata golden clean

all: build

build:
	CGO_ENABLED=0 go build -trimpath -o btflite ./cmd/btflite

# Static, without paths of this machine: the same commit and the same Go give
# the same files.
RELEASES = linux/amd64 linux/arm64 linux/arm linux/386 linux/riscv64 linux/ppc64le linux/s390x linux/loong64 \
	darwin/amd64 darwin/arm64 freebsd/amd64 freebsd/arm64

release:
	rm -rf build/release
	mkdir -p build/release
	set -e; for system in $(RELEASES); do \
		echo "$$system"; \
		CGO_ENABLED=0 GOOS=$${system%/*} GOARCH=$${system#*/} go build -trimpath -buildvcs=auto -ldflags='-s -w -buildid=' \
			-o "build/release/btflite-$${system%/*}-$${system#*/}" ./cmd/btflite; \
	done
	cd build/release && sha256sum btflite-* > SHA256SUMS && cat SHA256SUMS

run: build
	@mkdir -p build
	./btflite -J -j$(JOBS) --btf_features=default --stats \
		--btf_encode_detached=build/$(notdir $(VMLINUX)).btf $(VMLINUX)
	@echo "wrote build/$(notdir $(VMLINUX)).btf, $$(wc -c < build/$(notdir $(VMLINUX)).btf) bytes, from $(VMLINUX)"

# With CI=true the compilers for all tests are installed and a full-size
# kernel is fetched; elsewhere tests that miss something say so and are skipped.
ifeq ($(CI),true)
test: packages test-go test-kernels
test-go: packages
test-kernels: test-go
else
test: test-go
	@echo
	@echo "left out: the comparison with pahole 1.32 on full-size kernels. To run it"
	@echo "(about 1 GB of download, once): make test-kernels"
endif

test-go:
	go vet ./...
	GOARCH=386 go build -pgo=off -o /dev/null ./cmd/btflite
	go test ./...

test-kernels:
	scripts/kernels.sh $(KERNELS)
	BTFLITE_KERNELS=1 BTFLITE_PAHOLE="$(PAHOLE)" \
		go test -count=1 -timeout 30m -v -run TestKernels ./kerneltest

kernel-test: build
	scripts/kernel-test.sh $(SERIES)

test-modules: build
	scripts/kernels.sh pahole $(KERNEL) modules:$(KERNEL)
	go run ./bench -only=modules -all_modules -kernels=$(KERNEL) $(BENCHFLAGS)

lint:
	scripts/lint.sh

packages:
	scripts/packages.sh

bench: build
	go run ./bench $(BENCHFLAGS)

torture: build
	go run ./torture -pahole="$(PAHOLE)" $(TORTUREFLAGS)

fuzz:
	@for p in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; \
			go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$p || exit 1; \
		done; \
	done

testdata:
	cd testdata/small && gcc -O2 -g -gdwarf-5 -nostdlib -static -fno-pie -no-pie \
		-fno-stack-protector -fno-asynchronous-unwind-tables -ffile-prefix-map="$$PWD"=. \
		-Wl,--build-id=none -Wl,--unique=.data..percpu -o small small.c

golden:
	"$(PAHOLE)" -J -j1 --btf_features=default \
		--btf_encode_detached=testdata/small/small.btf testdata/small/small
	chmod 644 testdata/small/small.btf
	PAHOLE="$(PAHOLE)" BTF_ONLY=1 scripts/golden.sh
	PAHOLE="$(PAHOLE)" scripts/options.sh
	PAHOLE="$(PAHOLE)" BTF_ONLY=1 scripts/split.sh
	PAHOLE="$(PAHOLE)" BTF_ONLY=1 scripts/inputs.sh

clean:
	rm -rf btflite build
