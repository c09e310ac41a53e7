package dump

import "strconv"

// pairs are the digits of 0 to 99.
const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" + "40414243444546474849" +
	"50515253545556575859" + "60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"

// maxDigits is how many digits an uint32 has at most.
const maxDigits = 10

// decimal adds n in decimal. A third of the text of raw BTF and JSON are numbers, so they are written
// where they belong, not copied there.
func (o *out) decimal(n uint32) {
	if n < 10 {
		o.buf = append(o.buf, '0'+byte(n))
		return
	}
	at := len(o.buf)
	if cap(o.buf)-at < maxDigits {
		o.buf = strconv.AppendUint(o.buf, uint64(n), 10)
		return
	}
	end := at + 2
	for m := uint64(100); m <= uint64(n); m *= 10 {
		end++
	}
	o.buf = o.buf[:end]
	b := o.buf[at:]
	for ; n >= 100; n /= 100 {
		p := n % 100 * 2
		end := len(b)
		b[end-2], b[end-1] = pairs[p], pairs[p+1]
		b = b[:end-2]
	}
	if len(b) == 2 {
		b[0], b[1] = pairs[2*n], pairs[2*n+1]
	} else {
		b[0] = '0' + byte(n)
	}
}
