# btflite: targets for people; CI runs `make test`, with CI=true.
#
#   make                build ./btflite, the manual pages and the completions (a minute)
#   make install [PREFIX=/usr/local] [DESTDIR=]  install them; make uninstall
#   make install-pahole-link  a link "pahole" to btflite, if there is no pahole
#   make run [VMLINUX=FILE] [JOBS=N]  build, encode FILE (or a small program
#                                     of the repository), print a summary
#   make check          build, vet and the tests for every few minutes (a minute)
#   make test           vet and every test; CI=true adds lint and a full-size kernel
#   make lint           go vet, staticcheck, vale, govulncheck (needs the module proxy)
#   make test-library   the library from another module, and with -race; the files of deploy, the site
#   make test-kernels   only the comparison with pahole on full-size kernels
#   make kernel-test    build kernels with PAHOLE=btflite, boot them in qemu
#   make kernel-matrix [ROWS="gcc12 clang"]  build kernels in many ways, write docs/kernels.md
#   make verify-kernels boot kernels in qemu, compare their verdicts with verify's
#   make attach-kernels boot kernels in qemu, attach where "btflite why" says that one can
#   make test-modules   compare the modules of KERNEL with pahole's, into BENCHMARKS.md
#   make release VERSION=1.0.0  programs and archives for twelve systems, packages, the
#                       source, SHA256SUMS, in build/release (docs/releasing.md)
#   make release-check VERSION=1.0.0  the same twice, in different folders; compares the bytes
#   make package-check  install the packages of build/release in bare roots and use them; needs root
#   make package-check KINDS=kernel  kernel-test with the installed packages as pahole; needs root
#   make contrib        the recipes of contrib, with the version and the sums of build/release
#   make site [VMLINUX=FILE]  the documents as a static site in build/site, with the structs of FILE
#   make dist           the source with all modules as an archive, in build/dist
#   make dist-check     build, test and install that archive without a network
#   make bench          measure and write BENCHMARKS.md
#   make bench-guard    count the instructions of fixed runs, compare with bench/guard/numbers.json
#   make shape          measure functions, types and files, write docs/results/shape.md
#   make profile        profile the encoder, write cmd/btflite/btflite.pgo
#   make torture        encode damaged files and write docs/results/torture.md
#   make readers [READERS=5000]  read damaged BTF by every command line, write docs/results/readers.md
#   make mutants PKG=./btf [MUTANTFLAGS='-n 40']  faults that PKG's tests do not notice;
#                       -o docs/results/mutants.md writes them down
#   make pairs [PAIRS=N] [SEED=S]  random files and options beside pahole
#   make fuzz           every fuzz target for FUZZTIME; FUZZREPORT=docs/results/fuzzing.md
#                       writes down what each did
#   make testdata       compile testdata/small again
#   make golden         write the golden BTF again with pahole

VMLINUX  ?= testdata/small/small
JOBS     ?= 2
FUZZTIME ?= 30s
KERNELS  ?= pahole v72-amd64 some-modules:v72-amd64 shipped-modules:v72-amd64
BENCHFLAGS ?=
GUARDFLAGS ?=
SERIES   ?= 7.2 6.1
ROWS     ?=
KINDS    ?=
ATTACH_KERNELS ?= v612-amd64 v72-amd64
VERIFY_SERIES ?= 5.10 6.1 6.12 7.2
KERNEL   ?= v612-amd64
TORTUREFLAGS ?=
PAIRS    ?= 5000
READERS  ?= 5000
PKG      ?= ./btf
MUTANTFLAGS ?= -n 40
SEED     ?= 0

# Expanded by the shell: the folder of kernels and the pahole in it.
CORPUS = $${BTFLITE_CORPUS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/btflite-corpus}
PAHOLE = $${BTFLITE_PAHOLE:-$(CORPUS)/bin/pahole}

.PHONY: all always build completions manpages install uninstall install-pahole-link release release-check package-check contrib site dist dist-check run lint check test test-go test-library test-kernels corpus pahole kernel-test kernel-matrix verify-kernels attach-kernels test-modules machines packages bench bench-guard shape profile torture readers mutants pairs fuzz testdata golden clean

# In containers and under sudo, the checkout often belongs to another user. git refuses to read it then, so "go build"
# fails and a program has no version. Whoever runs make here trusts the checkout.
ifndef GIT_CONFIG_COUNT
export GIT_CONFIG_COUNT = 1
export GIT_CONFIG_KEY_0 = safe.directory
export GIT_CONFIG_VALUE_0 = *
endif

# What "btflite version" shows; make VERSION=1.2-3 sets it. Outside of a checkout
# the program knows by itself (scripts/version.sh).
VERSION =
GO_LDFLAGS = $(shell scripts/version.sh --ldflags $(VERSION))
# The profile tells the compiler which functions are hot. It is not called default.pgo, which
# "go test ./cmd/btflite" would take too: all packages would be compiled a second time.
PROFILE = -pgo=cmd/btflite/btflite.pgo
GO_BUILD = CGO_ENABLED=0 go build -trimpath $(PROFILE) -ldflags='-s -w $(GO_LDFLAGS)'

all: build completions manpages

build: build/settings
	$(GO_BUILD) -o btflite ./cmd/btflite

# Where things go. DESTDIR is put before every path, for people who make packages.
PREFIX  = /usr/local
BINDIR  = $(PREFIX)/bin
MANDIR  = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR  = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
DOCDIR  = $(PREFIX)/share/doc/btflite
DESTDIR =
INSTALL = install

MANPAGES = $(patsubst docs/man/%,build/man/%,$(wildcard docs/man/*.1))
# Everything that the documents link to.
DOCUMENTS = LICENSE $(wildcard *.md docs/*.md docs/results/*.md bench/plots/*.svg deploy/*)
SOURCES = $(shell find . -name '*.go' -o -name 'go.*' -o -name '*.pgo' -o -name version.txt)

# What follows runs Go only if a source is newer or a setting has changed, so
# that "sudo make install" after "make" needs no Go. Completions come from a
# program for the system that builds, which GOOS and GOARCH may not name.
btflite: $(SOURCES) build/settings
	$(GO_BUILD) -o $@ ./cmd/btflite

# The version is among them: a new tag or commit may change no source.
SETTINGS = $(GOOS) $(GOARCH) $(GOARM) $(GOFLAGS) $(GO_LDFLAGS)

build/settings: always
	@mkdir -p build
	@echo '$(SETTINGS)' | cmp -s - $@ || echo '$(SETTINGS)' > $@

COMPLETIONS = build/completions/btflite.bash build/completions/btflite.zsh build/completions/btflite.fish

completions: $(COMPLETIONS)

build/native/btflite: $(SOURCES) build/settings $(wildcard docs/man/*.1)
	env -u GOOS -u GOARCH CGO_ENABLED=0 go build -trimpath $(PROFILE) -ldflags='-s -w $(GO_LDFLAGS)' -o $@ ./cmd/btflite

# The pages with the version and the day of the commit.
manpages: $(MANPAGES)

build/man/%.1: docs/man/%.1 build/native/btflite
	@mkdir -p build/man
	build/native/btflite manual $(subst btflite,,$(subst btflite-,,$*)) > $@.new
	mv $@.new $@

build/completions/btflite.%: build/native/btflite
	@mkdir -p build/completions
	build/native/btflite completion $* > $@.new
	mv $@.new $@

install: btflite $(COMPLETIONS) $(MANPAGES)
	$(INSTALL) -d $(foreach dir,$(sort $(dir $(DOCUMENTS))),"$(DESTDIR)$(DOCDIR)/$(dir)") "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1" "$(DESTDIR)$(BASHDIR)" "$(DESTDIR)$(ZSHDIR)" "$(DESTDIR)$(FISHDIR)"
	$(INSTALL) -m 755 btflite "$(DESTDIR)$(BINDIR)/btflite"
	$(INSTALL) -m 644 $(MANPAGES) "$(DESTDIR)$(MANDIR)/man1/"
	set -e; for doc in $(DOCUMENTS); do $(INSTALL) -m 644 "$$doc" "$(DESTDIR)$(DOCDIR)/$$doc"; done
	$(INSTALL) -m 644 build/completions/btflite.bash "$(DESTDIR)$(BASHDIR)/btflite"
	$(INSTALL) -m 644 build/completions/btflite.zsh "$(DESTDIR)$(ZSHDIR)/_btflite"
	$(INSTALL) -m 644 build/completions/btflite.fish "$(DESTDIR)$(FISHDIR)/btflite.fish"

uninstall:
	@if [ "$$(readlink "$(DESTDIR)$(BINDIR)/pahole")" = btflite ]; then rm -v "$(DESTDIR)$(BINDIR)/pahole"; fi
	rm -f $(foreach doc,$(DOCUMENTS),"$(DESTDIR)$(DOCDIR)/$(doc)")
	@rmdir $(foreach dir,/docs/results /docs /bench/plots /bench /deploy,"$(DESTDIR)$(DOCDIR)$(dir)") "$(DESTDIR)$(DOCDIR)" 2> /dev/null || true
	rm -f "$(DESTDIR)$(BINDIR)/btflite" $(foreach page,$(notdir $(MANPAGES)),"$(DESTDIR)$(MANDIR)/man1/$(page)") \
		"$(DESTDIR)$(BASHDIR)/btflite" "$(DESTDIR)$(ZSHDIR)/_btflite" "$(DESTDIR)$(FISHDIR)/btflite.fish"

# Never in the place of the real pahole, which does much that btflite does not.
install-pahole-link:
	@link="$(DESTDIR)$(BINDIR)/pahole"; \
	if [ ! -e "$(DESTDIR)$(BINDIR)/btflite" ]; then \
		echo "$(DESTDIR)$(BINDIR)/btflite is not there: run make install first" >&2; exit 1; \
	elif [ "$$(readlink "$$link")" = btflite ]; then \
		echo "$$link is a link to btflite already"; \
	elif [ -e "$$link" ] || [ -L "$$link" ]; then \
		echo "$$link is there and is not btflite's: left as it is." >&2; \
		echo "Kernel builds take btflite without the link: make PAHOLE=$(BINDIR)/btflite" >&2; exit 1; \
	else \
		ln -s btflite "$$link" && echo "$$link -> btflite"; \
	fi

# Static programs for twelve systems, archives, packages, the source, SHA256SUMS.
release:
	scripts/release.sh $(VERSION)

release-check:
	scripts/release.sh check $(VERSION)

package-check:
	scripts/package-check.sh $(KINDS)

contrib:
	scripts/contrib.sh

site: build
	@mkdir -p build
	./btflite show --format=html "$(VMLINUX)" > build/example.html
	cd docs/site && go run . -example ../../build/example.html -o ../../build/site

dist:
	scripts/dist.sh

dist-check:
	scripts/dist.sh check

run: build
	@mkdir -p build
	./btflite -J -j$(JOBS) --btf_features=default --stats \
		--btf_encode_detached=build/$(notdir $(VMLINUX)).btf $(VMLINUX)
	@echo "wrote build/$(notdir $(VMLINUX)).btf, $$(wc -c < build/$(notdir $(VMLINUX)).btf) bytes, from $(VMLINUX)"

# With CI=true the compilers for all tests are installed and a full-size
# kernel is fetched; elsewhere tests that miss something say so and are skipped.
ifeq ($(CI),true)
test: lint packages corpus test-go test-library test-kernels
packages: lint
corpus: packages
test-go: packages corpus
test-library: test-go
test-kernels: test-go
else
test: test-go
	@echo
	@echo "left out: the comparison with pahole 1.32 on full-size kernels. To run it"
	@echo "(about 1 GB of download, once): make test-kernels"
endif

# What a person runs every few minutes: short tests in packages that neither build the
# program nor call compilers, and the command line's tests of options, messages, help and
# scripts.
SLOW = cmd/btflite|internal/ccobject|test/(faults|hostile|hosts|install|kerneltest|library|mutants|pairs|readme)
check:
	go build ./...
	go vet ./...
	go run ./test/suite -short -vet=off -timeout 5m $$(go list ./... | grep -Ev '/($(SLOW))$$')
	go run ./test/suite -short -vet=off -timeout 5m -run 'CommandLine|Features|Language|Slips|Help|Manual|Script' ./cmd/btflite

test-go:
	go vet ./...
	GOARCH=386 go build -o /dev/null ./cmd/btflite
	GOARCH=386 go vet .
	BTFLITE_UNIVERSES=1 go run ./test/suite -slow=20 -vet=off -timeout 30m ./...

# The library from another module, which needs the network once, and under the race
# detector, which needs a C compiler; and the other modules of this repository.
test-library:
	go test -race -run Together .
	cd test/library && go vet . && go test .
	cd test/deploy && go vet . && go test .
	cd docs/site && go vet . && go test .

# What is compared with pahole, here and by test-go with CI=true.
corpus:
	scripts/kernels.sh $(KERNELS)

# Fetches pahole, unless it is there.
pahole:
	[ -x "$(PAHOLE)" ] || scripts/kernels.sh pahole

test-kernels: corpus
	BTFLITE_KERNELS=1 BTFLITE_PAHOLE="$(PAHOLE)" \
		go test -count=1 -timeout 30m -v -run TestKernels ./test/kerneltest
	BTFLITE_PAHOLE="$(PAHOLE)" go test -count=1 -run TestRulesAgainstPahole ./encode

kernel-test: build
	scripts/kernel-test.sh $(SERIES)

kernel-matrix: build
	scripts/kernel-matrix.sh $(ROWS)
	scripts/kernel-matrix.sh --report

verify-kernels: build
	scripts/verify-kernels.sh $(VERIFY_SERIES)

attach-kernels: build
	scripts/kernels.sh $(ATTACH_KERNELS)
	scripts/attach-kernels.sh $(ATTACH_KERNELS)

test-modules: build
	scripts/kernels.sh pahole $(KERNEL) modules:$(KERNEL)
	go run ./bench -only=modules -all_modules -kernels=$(KERNEL) $(BENCHFLAGS)

# Kernels of more machines, each with some modules: 10 GB of download, 12 GB of disk, and an
# hour of pahole. They are in a folder of their own, so that test-kernels does not take them.
machines: build
	export BTFLITE_CORPUS="$(CORPUS)/machines" && scripts/kernels.sh pahole machines && \
	scripts/result.sh docs/results/machines.md "make machines" scripts/machines.sh

lint:
	scripts/lint.sh

packages:
	scripts/packages.sh

bench: build
	go run ./bench $(BENCHFLAGS)

# Fetches the kernel 6.12 once. GUARDFLAGS=-update writes the numbers again.
bench-guard:
	scripts/kernels.sh v612-amd64
	go run ./bench/guard -corpus="$(CORPUS)" $(GUARDFLAGS)

shape:
	scripts/result.sh docs/results/shape.md "make shape" go run ./bench -only=shape

profile:
	go run -trimpath ./bench/profile

torture: build pahole
	go run ./test/torture -pahole="$(PAHOLE)" $(TORTUREFLAGS)

readers:
	BTFLITE_READER_MUTANTS=$(READERS) BTFLITE_READER_REPORT="$(CURDIR)/docs/results/readers.md" \
		go test -count=1 -timeout 0 -v -run TestReadersOfMutants ./cmd/btflite

mutants:
	@go run ./test/mutants $(MUTANTFLAGS) $(PKG)

pairs:
	BTFLITE_PAHOLE="$(PAHOLE)" go test -count=1 -timeout 0 -v -run 'Pairs|Known' ./test/pairs -pairs=$(PAIRS) -seed=$(SEED)

fuzz:
	scripts/fuzz.sh $(FUZZTIME) $(FUZZREPORT)

testdata:
	cd testdata/small && gcc -O2 -g -gdwarf-5 -nostdlib -static -fno-pie -no-pie \
		-fno-stack-protector -fno-asynchronous-unwind-tables -ffile-prefix-map="$$PWD"=. \
		-Wl,--build-id=none -Wl,--unique=.data..percpu -o small small.c

golden: pahole
	"$(PAHOLE)" -J -j1 --btf_features=default \
		--btf_encode_detached=testdata/small/small.btf testdata/small/small
	chmod 644 testdata/small/small.btf
	BTFLITE_PAHOLE="$(PAHOLE)" BTF_ONLY=1 scripts/golden.sh
	BTFLITE_PAHOLE="$(PAHOLE)" scripts/options.sh
	BTFLITE_PAHOLE="$(PAHOLE)" BTF_ONLY=1 scripts/split.sh
	BTFLITE_PAHOLE="$(PAHOLE)" BTF_ONLY=1 scripts/inputs.sh

clean:
	rm -rf btflite build
