package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// release is a server with the archive of a release for this machine, and the sum of the archive.
// What a test puts into files is served too.
type release struct {
	*httptest.Server
	sum   string
	files map[string][]byte
}

func newRelease(t *testing.T) *release {
	t.Helper()
	s := newStage(t)
	program, err := os.ReadFile(s.program)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	header := &tar.Header{Name: "btflite-9.9.9-linux-" + runtime.GOARCH + "/bin/btflite", Mode: 0o755, Size: int64(len(program))}
	if err := w.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(program); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive.Bytes())
	r := &release{sum: hex.EncodeToString(sum[:]), files: map[string][]byte{
		"/v9.9.9/btflite-9.9.9-linux-" + runtime.GOARCH + ".tar.gz": archive.Bytes(),
	}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := req.URL.Path
		if job := req.URL.Query().Get("job"); job != "" {
			name += "?job=" + job
		}
		data, ok := r.files[name]
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Write(data)
	}))
	t.Cleanup(r.Close)
	return r
}

// kernels puts a small kernel and the BTF of another into an empty folder.
func kernels(t *testing.T) (dir string) {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s", tool)
		}
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the steps are for amd64")
	}
	dir = t.TempDir()
	for from, to := range map[string]string{"small/small": "vmlinux", "diff/member-changed/b.btf": "other.btf"} {
		data, err := os.ReadFile(filepath.Join("../../testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bash runs a script in dir with these variables and little else.
func bash(dir, script string, env []string) (string, error) {
	c := exec.Command("bash", "-eo", "pipefail", "-c", script)
	c.Dir, c.Env = dir, env
	out, err := c.CombinedOutput()
	return string(out), err
}

// read is the text of a file, "" if there is none.
func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// action runs the steps of action.yml as GitHub does, and returns what they write for outputs and
// for the summary, and the first error.
func action(t *testing.T, dir string, inputs map[string]string) (outputs, summary string, err error) {
	t.Helper()
	var a struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Name, If, Shell, Run string
				Env                  map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read("../../action.yml")), &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 4 {
		t.Fatalf("action.yml: %+v", a.Runs)
	}
	runner := t.TempDir()
	path, variables := os.Getenv("PATH"), []string{"HOME=" + runner, "RUNNER_TEMP=" + runner}
	for _, name := range []string{"PATH", "ENV", "OUTPUT", "STEP_SUMMARY"} {
		variables = append(variables, "GITHUB_"+name+"="+filepath.Join(runner, name))
	}
	input := regexp.MustCompile(`^\$\{\{ inputs\.(\w+) \}\}$`)
	for _, step := range a.Runs.Steps {
		if step.If != "" && step.If != "inputs.vmlinux != ''" || step.Shell != "bash" {
			t.Fatalf("%s: this test does not know if: %s, shell: %s", step.Name, step.If, step.Shell)
		}
		if step.If != "" && inputs["vmlinux"] == "" {
			continue
		}
		env := append([]string{"PATH=" + strings.ReplaceAll(read(filepath.Join(runner, "PATH")), "\n", ":") + path}, variables...)
		for name, value := range step.Env {
			m := input.FindStringSubmatch(value)
			if m == nil {
				t.Fatalf("%s: %s: %s is not an input", step.Name, name, value)
			}
			given, ok := inputs[m[1]]
			if !ok {
				given = a.Inputs[m[1]].Default
			}
			env = append(env, name+"="+given)
		}
		if out, failed := bash(dir, step.Run, append(env, strings.Fields(read(filepath.Join(runner, "ENV")))...)); failed != nil {
			t.Logf("%s: %v: %s", step.Name, failed, out)
			err = failed
			break
		}
	}
	return read(filepath.Join(runner, "OUTPUT")), read(filepath.Join(runner, "STEP_SUMMARY")), err
}

func TestAction(t *testing.T) {
	dir, r := kernels(t), newRelease(t)
	with := func(more ...string) map[string]string {
		inputs := map[string]string{"version": "9.9.9", "sha256": r.sum + "  btflite", "url": r.URL}
		for i := 0; i < len(more); i += 2 {
			inputs[more[i]] = more[i+1]
		}
		return inputs
	}
	for _, c := range []struct {
		name             string
		inputs           map[string]string
		outputs, summary string // parts of them
		fails            bool
	}{
		{name: "only installs", inputs: with()},
		{name: "the first run", inputs: with("vmlinux", "vmlinux", "previous", "none.btf"),
			outputs: "btf=vmlinux.btf\nchanged=unknown\n", summary: "vmlinux.btf: fine: 100 types"},
		{name: "the same again", inputs: with("vmlinux", "vmlinux", "output", "new.btf", "previous", "vmlinux.btf"),
			outputs: "btf=new.btf\nchanged=false\n", summary: "## BTF of vmlinux\n"},
		{name: "another kernel", inputs: with("vmlinux", "vmlinux", "previous", "other.btf"),
			outputs: "changed=true\n", summary: "|"},
		{name: "an old kernel refuses it", inputs: with("vmlinux", "vmlinux", "verify", "--kernel=5.10"),
			outputs: "btf=vmlinux.btf\n", summary: "needs Linux 6.0\n```\n", fails: true},
		{name: "a wrong sum", inputs: with("sha256", strings.Repeat("0", 64)), fails: true},
		{name: "a release that is not there", inputs: with("version", "9.9.8"), fails: true},
		{name: "an earlier file that is not BTF", inputs: with("vmlinux", "vmlinux", "previous", "/etc/passwd"), fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			outputs, summary, err := action(t, dir, c.inputs)
			if (err != nil) != c.fails {
				t.Errorf("error: %v", err)
			}
			if !strings.Contains(outputs, c.outputs) || !strings.Contains(summary, c.summary) {
				t.Errorf("outputs:\n%s\nsummary:\n%s", outputs, summary)
			}
		})
	}
}

// TestGitLabBTF runs the lines of the job in one shell, as GitLab's runner does. The artefact of the
// default branch comes from the server.
func TestGitLabBTF(t *testing.T) {
	dir, r := kernels(t), newRelease(t)
	var jobs map[string]struct {
		Variables map[string]string
		Before    []string `json:"before_script"`
		Script    []string
	}
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(read("../../deploy/gitlab-btf.yml"), "artifacts:\n    paths: [$BTF, btf.md]\n", "")), &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs[".btflite"]
	run := func(more ...string) (string, error) {
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CI_API_V4_URL=" + r.URL, "CI_PROJECT_ID=7", "CI_DEFAULT_BRANCH=main",
			"CI_JOB_NAME=btf: [7.2, a&b]", "CI_JOB_TOKEN=x"}
		for name, value := range job.Variables {
			env = append(env, name+"="+value)
		}
		env = append(env, "BTFLITE_VERSION=9.9.9", "BTFLITE_SHA256="+r.sum, "BTFLITE_URL="+r.URL)
		return bash(dir, strings.Join(append(job.Before, job.Script...), "\n"), append(env, more...))
	}
	if out, err := run(); err != nil || !strings.Contains(read(filepath.Join(dir, "btf.md")), "no earlier BTF") {
		t.Errorf("the first run: %v: %s", err, out)
	}
	r.files["/projects/7/jobs/artifacts/main/raw/vmlinux.btf?job=btf: [7.2, a&b]"] = []byte(read(filepath.Join(dir, "other.btf")))
	if out, err := run(); err != nil || !strings.Contains(read(filepath.Join(dir, "btf.md")), "|") {
		t.Errorf("another kernel: %v: %s", err, out)
	}
	if out, err := run("BTFLITE_SHA256=" + strings.Repeat("0", 64)); err == nil || !strings.Contains(out, "did NOT match") {
		t.Errorf("a wrong sum: %v: %s", err, out)
	}
	if out, err := run("BTF_VERIFY=--kernel=5.10"); err == nil || !strings.Contains(out, "needs Linux 6.0") {
		t.Errorf("an old kernel: %v: %s", err, out)
	}
}

// TestForms: the forms for faults ask for what doctor knows, their fields have names of their own, and
// GitHub's workflow runs what a person would run.
func TestForms(t *testing.T) {
	forms, err := filepath.Glob("../../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(forms) < 4 {
		t.Fatalf("%q, %v", forms, err)
	}
	for _, file := range forms {
		if filepath.Base(file) == "config.yml" {
			continue
		}
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID    string
				Attributes  struct{ Label, Description, Render string }
				Validations struct{ Required bool }
			}
		}
		if err := yaml.UnmarshalStrict([]byte(read(file)), &form); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		ids, doctor := make(map[string]bool), false
		for _, field := range form.Body {
			if ids[field.ID] || field.ID == "" || field.Attributes.Label == "" {
				t.Errorf("%s: the field %q: %+v", file, field.ID, field)
			}
			ids[field.ID] = true
			doctor = doctor || strings.Contains(field.Attributes.Label, "btflite doctor --json")
		}
		if form.Name == "" || form.Description == "" || !doctor {
			t.Errorf("%s: %q, %q, asks for doctor: %v", file, form.Name, form.Description, doctor)
		}
	}
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read("../../.github/workflows/ci.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	ci := workflow.Jobs["ci"]
	if n := len(ci.Steps); n == 0 || ci.Steps[n-1].Run != ".ci/run" || ci.Env["CI"] != "true" {
		t.Errorf("the workflow: %+v", ci)
	}
}
