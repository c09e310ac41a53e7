# Part of scripts/kernel-matrix.sh: booting the kernel of a row, with records in its objects.

# qemu_of MACHINE FOLDER: set $qemu, the command line without initial RAM disk, and $console.
qemu_of() {
	console=ttyS0
	case $1 in
	x86_64 | i386) qemu=("qemu-system-$1" -cpu max -kernel "$2/arch/x86/boot/bzImage") ;;
	arm64) console=ttyAMA0 qemu=(qemu-system-aarch64 -M virt -cpu cortex-a57 -kernel "$2/arch/arm64/boot/Image") ;;
	arm) console=ttyAMA0 qemu=(qemu-system-arm -M virt -cpu cortex-a15 -kernel "$2/arch/arm/boot/zImage") ;;
	riscv64) qemu=(qemu-system-riscv64 -M virt -kernel "$2/arch/riscv/boot/Image") ;;
	s390x) console=ttysclp0 qemu=(qemu-system-s390x -M s390-ccw-virtio -cpu max -kernel "$2/arch/s390/boot/bzImage") ;;
	ppc64le) console=hvc0 qemu=(qemu-system-ppc64 -M pseries -cpu power9 -kernel "$2/vmlinux") ;;
	mips64el) qemu=(qemu-system-mips64el -M malta -cpu MIPS64R2-generic -kernel "$2/vmlinux") ;;
	esac
	command -v "${qemu[0]}" > /dev/null || stop "there is no ${qemu[0]}"
}

# guest FOLDER: write the initial RAM disk with the modules of the folder.
guest() {
	local root=$work/guest module
	rm -rf "$root"
	mkdir -p "$root/modules"
	GOARCH=$goarch GOARM=7 CGO_ENABLED=0 go build -trimpath -pgo=off -ldflags='-s -w' -o "$root/init" ./test/guest
	for module in $(modules_of "$1"); do
		cp "$1/$module" "$root/modules/"
		"${triple:+$triple-}strip" -g "$root/modules/${module##*/}"
	done
	! does trace || cat > "$root/trace" <<-END
		- path_put dentry d_name len
		overlay ovl_statfs d_name len
	END
	(cd "$root" && find . | cpio -o -H newc 2> /dev/null | gzip -1) > "$work/initrd.gz"
}

# boot FOLDER: run the guest, leave its results in $work/guest.results. Some machines do not end by
# themselves, so qemu is ended when the guest is through.
boot() {
	local console_log=$work/logs/$row.console pid
	qemu_of "$machine" "$1"
	nice timeout 400 "${qemu[@]}" -accel tcg -m 512M -nographic -no-reboot -nic none -initrd "$work/initrd.gz" \
		-append "console=$console panic=-1 loglevel=7" < /dev/null > "$console_log" 2>&1 &
	pid=$!
	while kill -0 "$pid" 2> /dev/null; do
		sleep 1
		! grep -q 'RESULT end' "$console_log" || kill "$pid" 2> /dev/null || true
	done
	wait "$pid" || true
	tr -d '\r' < "$console_log" | sed -n 's/^.*RESULT //p' > "$work/guest.results"
	grep -q '^end$' "$work/guest.results" || stop "the guest has not come to its end: $(tail -n 3 "$console_log" | tr -d '\r' | paste -sd ' ')"
}

# has LINE: check for a line of the results.
has() { grep -qxF -- "$1" "$work/guest.results" || fault "boot: no '$1', but '$(grep -F "${1%" "*}" "$work/guest.results" | paste -sd ';')'"; }

sum() { sha256sum < "$1" | cut -d ' ' -f 1; }

# boot_and_check: boot the kernel with records, and compare what it says with what was built.
boot_and_check() {
	local module name loaded=0 said missing='^$'
	# Linux shows the BTF of modules since 5.11. Before, the guest does not find it.
	[[ " $options " != *" -DEBUG_INFO_BTF_MODULES "* ]] || missing='^error open /sys/kernel/btf/.*: no such file or directory$'
	guest "$work/records"
	boot "$work/records"
	built_btf "$work/records" vmlinux "$work/b.btf"
	has "btf vmlinux $(sum "$work/b.btf")"
	for module in $(modules_of "$work/records"); do
		name=$(basename "$module" .ko)
		has "insmod $name"
		built_btf "$work/records" "$module" "$work/b.btf" || continue
		[ "$missing" != '^$' ] || has "btf ${name//-/_} $(sum "$work/b.btf")"
		loaded=$((loaded + 1))
	done
	if does trace; then
		has "count overlay ovl_statfs 7 56"
		grep -qE '^count - path_put [1-9][0-9]* [1-9][0-9]*$' "$work/guest.results" || fault "boot: $(grep '^count - path' "$work/guest.results")"
		note traced "$(sed -n 's/^count //p' "$work/guest.results" | paste -sd ';')"
	fi
	said=$(grep -iE '^(error|log .*(fail|invalid|mismatch|error|unsupported|unknown))' "$work/guest.results" |
		grep -vE "$missing" | paste -sd ';') || true
	[ -z "$said" ] || fault "the kernel says: $said"
	note booted "$(sed -n 's/^release //p' "$work/guest.results")"
	note boot-modules "$loaded"
}
