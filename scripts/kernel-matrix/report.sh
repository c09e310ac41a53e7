# Part of scripts/kernel-matrix.sh: docs/kernels.md.

# value ROW KEY: what the result of a row says of a key; of several lines all, with semicolons. Paths
# are those in the folder of the matrix.
value() { sed -n "s#$work/##g; s/^$2\t//p" "$work/results/$1" 2> /dev/null | paste -sd ';' | sed 's/;/; /g'; }

# mib KIB: mebibytes.
mib() { if [ -n "$1" ]; then echo $((($1 + 512) / 1024)); else echo "–"; fi; }

# bytes_of ROW: whether its bytes are pahole's.
bytes_of() {
	local key more n=0 differ=0 without=0
	for key in dwarf records real dwarf-without records-without; do
		more=$(value "$1" "compared-$key") n=$((n + ${more:-0}))
		more=$(value "$1" "differ-$key") differ=$((differ + ${more:-0}))
		more=$(value "$1" "explained-$key") without=$((without + ${more:-0})) # results of before --btf_compat had the bytes
	done
	if [ "$n" = 0 ]; then echo "–"; elif [ "$differ" = 0 ] && [[ " $options " = *" DEBUG_INFO_SPLIT "* ]]; then
		echo "$n files equal btflite's of DWARF; pahole finds nothing"
	elif [ "$differ" = 0 ] && [[ " $options " = *" DEBUG_INFO_REDUCED "* ]]; then
		echo "$n files equal btflite's of DWARF; pahole gives up at declarations without a name"
	elif [ "$differ" = 0 ] && [ "$machine" = mips64el ]; then
		echo "equal, $n files; modules equal btflite's of DWARF, as pahole misreads their names"
	elif [ "$differ" = 0 ]; then
		echo "equal, $n files$([ "$without" = 0 ] || echo ", of these $without without \`global_var\`")"
	else echo "**$differ of $n differ**"; fi
}

# counted: how much of the table there is.
counted() {
	local name ran=0 booted=0 right=0 all=0
	local -A machines=()
	for name in $(names); do
		all=$((all + 1))
		[ -e "$work/results/$name" ] || continue
		ran=$((ran + 1))
		grep -qE '^(fault|stopped)' "$work/results/$name" || right=$((right + 1))
		row_of "$name"
		[ -z "$(value "$name" booted)" ] || booted=$((booted + 1)) machines[$machine]=1
	done
	echo "$ran of $all rows were run, $right of them without a fault; $booted were booted, on ${#machines[@]} machines. The others are \"not run\" because their turn has not come."
}

# head_text: what the document begins with.
head_text() {
	cat <<-'END'
		# Kernels built in many ways

		`make kernel-matrix` writes this document. Each row is a small kernel of a source package of Debian. It is compiled once, with DWARF. A copy has its
		objects converted to [unit records](unit-records.md) and is linked again. The BTF of vmlinux and of every module is compared byte by byte: pahole 1.32
		from DWARF, btflite from DWARF, and btflite from records, with three sets of features: none, those of kernel builds, and all.
		btflite makes pahole's bytes, with `--btf_compat`. The
		sections `.BTF` that both builds have written are compared, too. Rows with "cc" were also compiled with `CC="btflite cc ..."`.

		Kernels with records were booted under qemu, in software. There `/sys/kernel/btf` has the bytes of the build, the kernel takes the modules, and its log has
		no complaint about BTF. "fentry" attaches BPF programs to a function of the kernel and of a module; they read members
		at places that the running kernel's BTF gives.

		Memory is what the linker and btflite take at most for vmlinux, in MiB, with DWARF and with records. These kernels are small:
		[BENCHMARKS](../BENCHMARKS.md) has real ones.

	END
	printf '%s\n\n' "$(counted)"
	cat <<-'END'
		| row | kernel | options | bytes are pahole's | boots | link, MiB | BTF, MiB |
		|---|---|---|---|---|--:|--:|
	END
}

# report: print the document.
report() {
	local name booted machines
	head_text
	for name in $(names); do
		row_of "$name"
		[ -e "$work/results/$name" ] || { echo "| $row | $series, $machine, $compiler | $(options_text) | not run | | | |"; continue; }
		if does around; then
			echo "| $row | $series, $machine, $compiler | $(options_text) | $(around_text) | | | |"
			continue
		fi
		echo "| $row | $(value "$row" release), $machine, $compiler | $(options_text) | $(bytes_of "$row") | $(boot_text) | $(mib "$(value "$row" link-dwarf)") / $(mib "$(value "$row" link-records)") | $(mib "$(value "$row" encoding-dwarf)") / $(mib "$(value "$row" encoding-records)") |"
	done
	printf '\n## What was said\n\n'
	for name in $(names); do
		[ -e "$work/results/$name" ] || continue
		row_of "$name"
		told
	done
}

options_text() { sed 's/DEBUG_INFO_\(DWARF[45]\)/\1/; s/DEBUG_INFO_\(COMP\)/\1/; s/ -DEBUG_INFO_BTF_MODULES//; s/-\([A-Z]\)/no \1/g' <<< "${options:--}"; }

boot_text() {
	local modules traced
	[ -n "$(value "$row" booted)" ] || { echo; return; }
	modules=$(value "$row" boot-modules) traced=$(value "$row" traced)
	echo "yes, $modules modules${traced:+, fentry}"
}

# around_text: whether a row around a build is as it should be. What it did follows below the table.
around_text() {
	if grep -qE '^(fault|stopped)' "$work/results/$row"; then echo "**see below**"; else echo "equal to the build with DWARF, see below"; fi
}

# told: a line for each thing that a row has said or found.
told() {
	local text
	text=$(value "$row" stopped)
	[ -z "$text" ] || echo "- **$row** did not come to its end: $text"
	text=$(value "$row" fault)
	[ -z "$text" ] || echo "- **$row**: $text"
	text=$(value "$row" said)
	[ -z "$text" ] || echo "- $row, objects converted: $text"
	text=$(value "$row" real-said)
	! does cc || [ -z "$(value "$row" compared-real)" ] || echo "- $row, compiled with \`btflite cc\`: ${text:-nothing was said}"
	sed -n "s/^result\t/- $row: /p" "$work/results/$row"
}
