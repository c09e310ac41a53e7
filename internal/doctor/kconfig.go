package doctor

import (
	"bytes"
	"strconv"
	"strings"
)

// maxConfig is the longest configuration that is read, in bytes. Those of kernels have less
// than 400,000.
const maxConfig = 8 << 20

// config has the options of a kernel, by name without CONFIG_. An option that is not set is "n".
type config map[string]string

// parseConfig reads a .config or an auto.conf. What is not an option is passed over.
func parseConfig(data []byte) config {
	c := config{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# CONFIG_"); ok {
			if name, ok = strings.CutSuffix(name, " is not set"); ok {
				c[name] = "n"
			}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "CONFIG_"); ok {
			if name, value, ok := strings.Cut(rest, "="); ok {
				c[name] = strings.Trim(value, `"`)
			}
		}
	}
	return c
}

func (c config) on(name string) bool { return c[name] == "y" || c[name] == "m" }

// number is the value of an option; ok if it has one.
func (c config) number(name string) (n int, ok bool) {
	n, err := strconv.Atoi(c[name])
	return n, err == nil
}

// looksLikeConfig reports whether data is the text of a configuration.
func looksLikeConfig(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	return bytes.HasPrefix(data, []byte("CONFIG_")) || bytes.Contains(data, []byte("\nCONFIG_")) || bytes.Contains(data, []byte("\n# CONFIG_"))
}

var configRelease = pattern(`(?m)^# \S+ (\d+\.\d+\S*) Kernel Configuration$`)

// releaseOfConfig is the release in the heading of a .config, "" for none.
func releaseOfConfig(data []byte) string {
	if m := configRelease().FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}
