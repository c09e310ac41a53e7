package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurmConf is a cluster of a controller and two workers on this machine, without systemd and cgroups.
const slurmConf = `ClusterName=btf
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
SlurmctldPidFile=DIR/run/slurmctld.pid
SlurmdPidFile=DIR/run/slurmd-%n.pid
SlurmctldLogFile=DIR/log/slurmctld.log
SlurmdLogFile=DIR/log/slurmd-%n.log
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MaxArraySize=20001
MailProg=/bin/true
NodeName=n[1-2] NodeHostname=HOST NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=2 RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
`

// cluster starts Slurm, which ends with the test.
func cluster(t *testing.T) (dir string) {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no Slurm (slurm-wlm, munge): ", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("Slurm is started by root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, name := range []string{"run", "log", "state", "spool-n1", "spool-n2"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(conf, []byte(strings.NewReplacer("HOST", host, "DIR", dir).Replace(slurmConf)), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	if exec.Command("sh", "-c", "munge -n | unmunge").Run() != nil {
		if out, err := exec.Command("sh", "-c", "mkdir -p /run/munge && chown munge:munge /run/munge && runuser -u munge -- munged").CombinedOutput(); err != nil {
			t.Skipf("no munge: %v: %s", err, out)
		}
		t.Cleanup(func() { endBy("/run/munge/munged.pid", syscall.SIGTERM) })
	}
	for _, words := range [][]string{{"slurmctld"}, {"slurmd", "-N", "n1"}, {"slurmd", "-N", "n2"}} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", words, err, out)
		}
		pid := filepath.Join(dir, "run", strings.Replace(strings.Join(words, ""), "-N", "-", 1)+".pid")
		t.Cleanup(func() { endBy(pid, syscall.SIGTERM) })
	}
	return dir
}

// endBy sends a signal to the process whose number a file has, and waits until it is gone.
func endBy(file string, s syscall.Signal) {
	data, err := os.ReadFile(file)
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 1 {
		return
	}
	_ = syscall.Kill(pid, s)
	for range 100 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestSlurm: an array does all packages; two shards that were lost are run again alone, which without
// their number is refused; and a worker that is killed loses nothing that is done.
func TestSlurm(t *testing.T) {
	dir := cluster(t)
	s := newStage(t)
	submit := func(array string, env ...string) string {
		t.Helper()
		return s.run(t, fmt.Sprintf(`cd %s; sbatch --wait --array=%s %s "$PACKAGES" "$ARCHIVE" || true; cat slurm-*.out; rm -f slurm-*.out`, dir, array, script(t)), env...)
	}
	if out := submit("3,7"); strings.Count(out, "the array has 2 tasks from 3 to 7, which are not all of 0 to 1; set BTFLITE_SHARDS") != 2 {
		t.Errorf("part of an array: %s", out)
	}
	out := submit("0-2,4-6", "BTFLITE_SHARDS=8")
	if strings.Count(out, "/8 of Slurm") != 6 {
		t.Errorf("six of eight: %s", out)
	}
	before, _ := filepath.Glob(filepath.Join(s.archive, "packages/*"))
	endBy(filepath.Join(dir, "run/slurmd-n1.pid"), syscall.SIGKILL)
	// Slurm itself notices after minutes, and gives the tasks to the other worker only then.
	s.run(t, "scontrol update nodename=n1 state=down reason=killed")
	if out = submit("3,7", "BTFLITE_SHARDS=8"); strings.Count(out, "/8 of Slurm") != 2 {
		t.Errorf("the other two: %s", out)
	}
	after, _ := filepath.Glob(filepath.Join(s.archive, "packages/*"))
	if len(before) >= len(after) {
		t.Errorf("%d packages before, %d after", len(before), len(after))
	}
	s.check(t)
	if out = submit("0-3"); strings.Count(out, "/4 of Slurm") != 4 || strings.Count(out, "0 kernels archived") != 4 {
		t.Errorf("again: %s", out)
	}
}

// TestSlurmScript: the script by itself, as the tasks of an array start it.
func TestSlurmScript(t *testing.T) {
	s := newStageIn(t, oddFolder(t))
	for i := range 3 {
		out := s.run(t, `sh ../../deploy/slurm.sh "$PACKAGES" "$ARCHIVE"`, "SLURM_ARRAY_TASK_ID="+strconv.Itoa(i), "SLURM_ARRAY_TASK_COUNT=3",
			"SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=2", "BTFLITE="+s.program, "TMPDIR="+s.dir)
		if !strings.Contains(out, fmt.Sprintf("shard %d/3 of Slurm", i)) {
			t.Error(out)
		}
	}
	s.check(t)
}

// script is the path of the script.
func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../deploy/slurm.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
