// Package deploy tests the files in deploy: what an engine would start is started here, with its
// variables, and must do every package once.
package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

const packages = 12

// stage is a folder with packages and the program.
type stage struct{ dir, packages, archive, program string }

func newStage(t *testing.T) *stage { return newStageIn(t, t.TempDir()) }

// oddFolder has a name that a shell takes apart, unless it is quoted.
func oddFolder(t *testing.T) string { return filepath.Join(t.TempDir(), "a b'c $d*") }

func newStageIn(t *testing.T, dir string) *stage {
	t.Helper()
	s := &stage{dir, filepath.Join(dir, "packages"), filepath.Join(dir, "archive"), filepath.Join(dir, "bin/btflite")}
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", s.program, "./cmd/btflite").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.MkdirAll(s.packages, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range packages {
		release := fmt.Sprintf("6.%d.0", i)
		kernel := bytes.Replace(at.Kernel(release), []byte("\x01\x02\x03\x04\x05"), []byte{byte(i), 2, 3, 4, 5}, 1)
		if err := os.WriteFile(filepath.Join(s.packages, release+".deb"), at.Deb("xz", at.Entry{Name: "boot/vmlinux", Data: kernel}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs a command of the shell with further variables.
func (s *stage) run(t *testing.T, command string, env ...string) string {
	t.Helper()
	c := exec.Command("sh", "-ec", command)
	c.Env = append(os.Environ(), append(env, "PATH="+filepath.Dir(s.program)+":"+os.Getenv("PATH"), "PACKAGES="+s.packages, "ARCHIVE="+s.archive)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

// check tells whether the archive has all kernels once, and nothing but what belongs there.
func (s *stage) check(t *testing.T) {
	t.Helper()
	s.run(t, `btflite archive index -o "$ARCHIVE"`)
	var index struct{ Kernels []struct{ Release string } }
	data, err := os.ReadFile(filepath.Join(s.archive, "index.json"))
	if err == nil {
		err = json.Unmarshal(data, &index)
	}
	if err != nil || len(index.Kernels) != packages {
		t.Errorf("%d kernels, %v", len(index.Kernels), err)
	}
	records, _ := filepath.Glob(filepath.Join(s.archive, "packages/*.json"))
	left, _ := filepath.Glob(filepath.Join(s.archive, ".btflite*"))
	if len(records) != packages || len(left) != 0 {
		t.Errorf("%d records, left over %q", len(records), left)
	}
}

// load reads a YAML file of deploy. Fields that to does not have are errors.
func load(t *testing.T, name string, to any) {
	t.Helper()
	data, err := os.ReadFile("../../deploy/" + name)
	if err == nil {
		err = yaml.UnmarshalStrict(data, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestKubernetes: the manifest is one of batch/v1, and its pods share the packages.
func TestKubernetes(t *testing.T) {
	var job batchv1.Job
	load(t, "kubernetes.yaml", &job)
	c := job.Spec.Template.Spec.Containers[0]
	count := int(*job.Spec.Completions)
	if len(c.Env) != 1 || c.Env[0].Value != strconv.Itoa(count) || *job.Spec.CompletionMode != batchv1.IndexedCompletion || job.Spec.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("%+v", job.Spec)
	}
	mounted := map[string]bool{}
	for _, v := range job.Spec.Template.Spec.Volumes {
		mounted[v.Name] = true
	}
	s := newStage(t)
	spool := filepath.Join(s.dir, "spool")
	if err := os.Mkdir(spool, 0o755); err != nil {
		t.Fatal(err)
	}
	line := c.Args[0]
	for _, m := range c.VolumeMounts {
		if !mounted[m.Name] {
			t.Errorf("no volume %s", m.Name)
		}
		to := map[string]string{"packages": s.packages, "archive": s.archive, "spool": spool}[m.Name]
		line = strings.ReplaceAll(line, m.MountPath, to)
	}
	for i := range count {
		out := s.run(t, line, "JOB_COMPLETION_INDEX="+strconv.Itoa(i), c.Env[0].Name+"="+c.Env[0].Value)
		if !strings.Contains(out, fmt.Sprintf("shard %d/%d of Kubernetes", i, count)) {
			t.Error(out)
		}
	}
	s.check(t)
}

// TestGitLab: the lines of the jobs, with GitLab's variables, which count from 1.
func TestGitLab(t *testing.T) {
	var file map[string]struct {
		Parallel int            `json:"parallel"`
		Retry    map[string]any `json:"retry"`
		Needs    []string       `json:"needs"`
		Script   []string       `json:"script"`
	}
	load(t, "gitlab-ci.yml", &file)
	s, job := newStageIn(t, oddFolder(t)), file["btf"]
	for i := range job.Parallel {
		s.run(t, strings.Join(job.Script, "\n"), "CI_NODE_INDEX="+strconv.Itoa(i+1), "CI_NODE_TOTAL="+strconv.Itoa(job.Parallel))
	}
	s.run(t, strings.Join(file["index"].Script, "\n"))
	s.check(t)
}

// TestGitHub: the steps of the jobs, with what strategy would give.
func TestGitHub(t *testing.T) {
	var file struct {
		Name string
		On   any `json:"true"` // what YAML 1.1 takes "on" for
		Jobs map[string]struct {
			RunsOn   string `json:"runs-on"`
			Needs    string
			Strategy struct {
				FailFast bool `json:"fail-fast"`
				Matrix   map[string][]int
			}
			Env   map[string]string
			Steps []map[string]any
		}
	}
	load(t, "github.yml", &file)
	s, job := newStage(t), file.Jobs["btf"]
	total := len(job.Strategy.Matrix["shard"])
	for i := range total {
		var env []string
		for name, value := range job.Env {
			value = strings.NewReplacer("${{ strategy.job-index }}", strconv.Itoa(i), "${{ strategy.job-total }}", strconv.Itoa(total)).Replace(value)
			env = append(env, name+"="+value)
		}
		line, _ := job.Steps[0]["run"].(string)
		s.run(t, "cd "+s.dir+"\n"+strings.Replace(line, "-o btf", "-o archive", 1), env...)
	}
	s.check(t)
}

// TestParallel: GNU parallel, whose log has a line for each package.
func TestParallel(t *testing.T) {
	if out, err := exec.Command("parallel", "--version").Output(); err != nil || !bytes.Contains(out, []byte("GNU")) {
		t.Skip("no GNU parallel")
	}
	s := newStageIn(t, oddFolder(t))
	s.run(t, `sh ../../deploy/parallel.sh "$PACKAGES" "$ARCHIVE"`, "HOME="+s.dir, "BTFLITE="+s.program)
	s.check(t)
	if log, err := os.ReadFile(s.archive + ".log"); err != nil || bytes.Count(log, []byte("\n")) != packages+1 {
		t.Errorf("%s, %v", log, err)
	}
}
