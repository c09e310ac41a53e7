package memlimit

import (
	"os"
	"testing"
)

func TestSmallestLimit(t *testing.T) {
	const v2, v1 = "/sys/fs/cgroup", "/sys/fs/cgroup/memory"
	for _, tt := range []struct {
		name, groups string
		files        map[string]string
		want         uint64
	}{
		{"own group", "0::/a/b\n", map[string]string{v2 + "/a/b/memory.max": "67108864\n"}, 64 << 20},
		{"no limit", "0::/a/b\n", map[string]string{v2 + "/a/b/memory.max": "max\n"}, 0},
		{"group above", "0::/a/b\n", map[string]string{v2 + "/a/b/memory.max": "max\n", v2 + "/a/memory.max": "1048576\n"}, 1 << 20},
		{"smaller above", "0::/a/b\n", map[string]string{v2 + "/a/b/memory.max": "2097152\n", v2 + "/a/memory.max": "1048576\n"}, 1 << 20},
		{"container", "0::/../x\n", map[string]string{v2 + "/memory.max": "4096\n"}, 4096},
		{"version 1", "9:name=systemd:/\n4:cpu,memory:/g\n0::/\n", map[string]string{v1 + "/g/memory.limit_in_bytes": "8388608\n",
			v1 + "/memory.limit_in_bytes": "9223372036854771712\n"}, 8 << 20},
		{"version 1 in a container", "4:memory:/docker/123\n", map[string]string{v1 + "/memory.limit_in_bytes": "8388608\n"}, 8 << 20},
		{"other controllers", "4:memoryx,cpu:/g\n", map[string]string{v1 + "/g/memory.limit_in_bytes": "8388608\n"}, 0},
		{"damaged", "4:memory\nx\n\n", nil, 0},
		{"not a number", "0::/\n", map[string]string{v2 + "/memory.max": "much\n"}, 0},
	} {
		got, dir := smallest([]byte(tt.groups), func(name string) ([]byte, error) {
			if s, ok := tt.files[name]; ok {
				return []byte(s), nil
			}
			return nil, os.ErrNotExist
		})
		if got != tt.want || (dir != "") != (got != 0) {
			t.Errorf("%s: %d of %s, want %d", tt.name, got, dir, tt.want)
		}
	}
}

func TestFileBytes(t *testing.T) {
	for stat, want := range map[string]uint64{
		"anon 5\nfile 7\nshmem 4096\nshmem_thp 9\n":  4096, // version 2
		"cache 9\nshmem 10\nrss 1\ntotal_shmem 30\n": 30,   // version 1
		"shmem x\n": 0, "": 0,
	} {
		if n := fileBytes([]byte(stat)); n != want {
			t.Errorf("%q: %d", stat, n)
		}
	}
}

func TestNumberAt(t *testing.T) {
	for file, want := range map[string]uint64{
		"low 0\nhigh 2\nmax 3\noom 9\noom_kill 5\noom_group_kill 1\n": 5, // version 2
		"oom_kill_disable 0\nunder_oom 1\noom_kill 7\n":               7, // version 1
		"oom_kill x\n": 0, "oom_kill": 0, "": 0,
	} {
		if n := numberAt([]byte(file), "oom_kill"); n != want {
			t.Errorf("%q: %d", file, n)
		}
	}
}

func TestParseStatm(t *testing.T) {
	for s, want := range map[string][2]uint64{"100 50 20 1 0 30 0\n": {50, 20}, "100 50": {}, "": {}, "1 2 3": {}, "a b c": {}} {
		if resident, shared := parseStatm(s); [2]uint64{resident, shared} != want {
			t.Errorf("%q: %d, %d", s, resident, shared)
		}
	}
}

func TestUsedGrows(t *testing.T) {
	before := Used()
	b := make([]byte, 32<<20)
	for i := range b {
		b[i] = byte(i)
	}
	if after := Used(); before == 0 || after < before+30<<20 || after > before+64<<20 {
		t.Errorf("%d, then %d bytes with %d more", before, after, len(b))
	}
	if all := Resident(); all < Used() {
		t.Errorf("%d bytes are resident, %d of them anonymous", all, Used())
	}
	if b[1] != 1 {
		t.Error("kept alive")
	}
}

func TestKibibytes(t *testing.T) {
	for text, want := range map[string]uint64{
		"VmPeak:\t  9 kB\nVmHWM:\t   32768 kB\nVmRSS:\t 1 kB\n": 32 << 20,
		"VmRSS:\t 1 kB\n": 0, "VmHWM:\n": 0, "VmHWM: x kB\n": 0, "": 0,
	} {
		if got := kibibytesIn(text, "VmHWM:"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if peak, now := Peak(), Resident(); now != 0 && peak < now/2 {
		t.Errorf("the peak is %d, and %d are resident", peak, now)
	}
	if kibibytes("/proc/meminfo", "MemAvailable:") != 0 && Available() == 0 {
		t.Error("the system tells how much is available, and Available does not")
	}
}
