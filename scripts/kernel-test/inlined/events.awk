# Makes kprobe events (Documentation/trace/kprobetrace.rst) of what "btflite inline --json"
# says of a module of x86-64: one for each site, which reads all parameters from their
# places. MODULE is the module's name.
#
# A register with an offset is no argument of a kprobe. The event has the register, what
# is added, and, for pointers, what is in memory there. The frame base is what GCC says
# it is, the address behind the return address, in a function with a frame pointer.

BEGIN { split("ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15", names) }

function value(line) {
	sub(/^[^:]*: "?/, "", line)
	sub(/"?,?$/, "", line)
	return line
}

function register(reg) {
	sub(/^reg/, "", reg)
	return "%" names[reg + 1]
}

# memory is the argument for what is at an address: "reg5", "reg5 + 0x8", "fbreg - 0x10".
function memory(at, w, off) {
	split(at, w, " ")
	off = w[3] == "" ? "0" : w[3]
	if (w[1] == "fbreg")
		return sprintf("%+d(%%bp)", 16 + (w[2] == "-" ? -1 : 1) * number(off))
	return (w[2] == "-" ? "-" : "+") off "(" register(w[1]) ")"
}

function number(hex, i, n) {
	for (i = 3; i <= length(hex); i++)
		n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return n
}

function argument(name, place, size, type, w) {
	type = ":x" 8 * size
	if (place ~ /^-?0x/)
		return " " name "=\\" place type
	if (place ~ /^reg[0-9]+ reg[0-9]+$/) {
		split(place, w, " ")
		return " " name "_0=" register(w[1]) ":x64 " name "_1=" register(w[2]) ":x64"
	}
	if (place ~ /^reg[0-9]+$/)
		return " " name "=" register(place) type
	if (place ~ /^\*\(/)
		return " " name "=" memory(substr(place, 3, length(place) - 3)) type
	split(place, w, " ")
	return " " name "_reg=" register(w[1]) ":x64 " name "_add=\\" (w[2] == "-" ? "-" : "") w[3] ":x64 at_" name "=" memory(place) ":x32"
}

/"function": / { event = "p:sites/" value($0) }
/"symbol": / { event = event " " MODULE ":" value($0) }
/"name": / { name = value($0); place = "" }
/"place": / { place = value($0) }
/"size": / { event = event argument(name, place, value($0)) }
/^ }/ { print event }
