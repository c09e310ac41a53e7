// Command measure runs a program and writes what it cost to file descriptor 3:
// wall, user and system time in nanoseconds, peak resident memory in KiB, and
// the exit status (128 + signal if a signal ended it), separated by spaces.
//
//	measure PROGRAM ARG... 3>cost
//
// It exists because Linux hands a process's peak memory on to the program it
// executes: started from a large process, a small one shows the large one's
// peak. This command imports next to nothing to stay at two or three
// megabytes, which is the least that it can report.
package main

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

func main() {
	args, env := os.Args, os.Environ()
	if len(args) < 2 {
		fail("usage: measure PROGRAM ARG... 3>cost\n")
	}
	// Nobody but this process needs the descriptor.
	syscall.CloseOnExec(3)
	start := time.Now()
	pid, err := syscall.ForkExec(args[1], args[1:], &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		fail("measure: " + args[1] + ": " + err.Error() + "\n")
	}
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		if _, err = syscall.Wait4(pid, &status, 0, &usage); err != syscall.EINTR {
			break
		}
	}
	wall := time.Since(start)
	if err != nil {
		fail("measure: wait: " + err.Error() + "\n")
	}
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	var line []byte
	for _, v := range []int64{wall.Nanoseconds(), usage.Utime.Nano(), usage.Stime.Nano(), int64(usage.Maxrss), int64(code)} {
		line = append(strconv.AppendInt(line, v, 10), ' ')
	}
	if _, err := syscall.Write(3, line); err != nil {
		fail("measure: descriptor 3: " + err.Error() + "\n")
	}
}

func fail(message string) {
	syscall.Write(2, []byte(message))
	syscall.Exit(125)
}
