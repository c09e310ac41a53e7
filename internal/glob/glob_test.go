package glob

import "testing"

func TestFits(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a*", "abc", true}, {"a?c", "abc", true}, {"[ab]c", "bc", true}, {"[^ab]c", "bc", false}, {`\*`, "*", true}, {"a", "abc", false},
		{"operator*", "operator/", true}, {"a?b", "a/b", true}, {"a/*", "a/b/c", true}, {"[/]", "/", true}, {"*", "", true},
	} {
		p, err := Parse(tt.pattern)
		if err != nil || p.Fits([]byte(tt.name)) != tt.want {
			t.Errorf("%s, %s: %v", tt.pattern, tt.name, err)
		}
	}
	for _, bad := range []string{"", "[", "a[b", `a\`} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}
