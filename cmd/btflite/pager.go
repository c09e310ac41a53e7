package main

import (
	"io"
	"os"
	"os/exec"
)

// pager returns where a command writes what may be long: the standard output or, if
// that is a terminal, the program that $PAGER names, less if it names none. end
// waits until the user has left it.
func (c *cli) pager() (out io.Writer, end func()) {
	f, ok := c.stdout.(*os.File)
	name, set := c.lookupEnv("PAGER")
	if !ok || !isTerminal(f) || name == "cat" || set && name == "" {
		return c.stdout, func() {}
	}
	if name == "" {
		name = "less"
	}
	cmd := exec.Command("/bin/sh", "-c", name)
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	cmd.Env = os.Environ()
	if _, set := c.lookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX") // as git: short text needs no key
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return c.stdout, func() {}
	}
	return in, func() { in.Close(); cmd.Wait() }
}
