package dump

import "strconv"

// pairs are the digits of 0 to 99.
const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" + "40414243444546474849" +
	"50515253545556575859" + "60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"

// maxDigits is how many digits an uint32 has at most.
const maxDigits = 10

// appendUint32 appends n in decimal. A third of the text of raw BTF and JSON are
// numbers, so they are written where they belong, not copied there.
func appendUint32(b []byte, n uint32) []byte {
	if n < 10 {
		return append(b, '0'+byte(n))
	}
	at := len(b)
	if cap(b)-at < maxDigits {
		return strconv.AppendUint(b, uint64(n), 10)
	}
	end := at + 2
	for m := uint64(100); m <= uint64(n); m *= 10 {
		end++
	}
	b = b[:end]
	for ; n >= 100; n /= 100 {
		p := n % 100 * 2
		end -= 2
		b[end], b[end+1] = pairs[p], pairs[p+1]
	}
	if end-at == 2 {
		b[at], b[at+1] = pairs[2*n], pairs[2*n+1]
	} else {
		b[at] = '0' + byte(n)
	}
	return b
}
