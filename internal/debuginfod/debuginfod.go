// Package debuginfod finds the debug file of a build-id on debuginfod servers. It runs
// debuginfod-find of elfutils, which knows the variables of all clients, checks
// certificates, keeps the shared cache, and asks no server twice within minutes for what it
// does not have.
//
// It runs a program because a client of our own costs 3 to 4 MB of code (net/http 4.3,
// crypto/tls 3.0), of which most runs would use nothing. Whoever sets the variables
// for all users, as distributions do, installs that program with them.
package debuginfod

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/btflite/btflite/internal/message"
)

// URLs is the variable with the servers, separated by blanks. Without it, nothing is asked.
const URLs = "DEBUGINFOD_URLS"

// program is the client. It is looked up in PATH.
const program = "debuginfod-find"

// Limits for variables that are not set: of one file, in bytes, and of one request, in
// seconds. By itself the client ends only after 90 seconds of silence, so a server that never
// stops sending would keep it for ever.
const (
	maxSize = 4 << 30
	maxTime = 600
)

// grace is how much longer than a request the program may take.
var grace = 30 * time.Second

// maxText is how many bytes of what the program prints are kept.
const maxText = 1 << 16

// ErrNoProgram is the error if the client is not installed.
var ErrNoProgram = errors.New(URLs + " is set, but " + program + " is not installed (Debian has it in the package debuginfod, Fedora in elfutils-debuginfod-client)")

// ErrNoServer is the error if no server is named, or none can have such a build-id.
var ErrNoServer = errors.New("no debuginfod server to ask")

// Client asks the servers that its environment names.
type Client struct {
	// Getenv returns a variable, "" if it is not set.
	Getenv func(name string) string
	// Start starts the program; nil means cmd.Start. A caller that must exit can so learn the process,
	// and end it. Otherwise the program would go on until it has the file.
	Start func(cmd *exec.Cmd) error
}

// Asks reports whether there is a server to ask about a build-id. Build-ids of
// linkers have 8 to 32 bytes. The program takes at most 64, and one byte tells nothing apart.
func (c *Client) Asks(id []byte) bool {
	return len(c.servers()) > 0 && len(id) > 1 && len(id) <= 64
}

func (c *Client) servers() []string { return strings.Fields(c.Getenv(URLs)) }

// Servers names the servers for a message, without passwords.
func (c *Client) Servers() string {
	list := c.servers()
	if len(list) == 0 {
		return ""
	}
	first := "a server"
	if u, err := url.Parse(list[0]); err == nil {
		u.RawQuery, u.Fragment = "", ""
		first = message.OneLine(u.Redacted())
	}
	return message.AndMore(first, len(list)-1, "server")
}

// Find returns the path of the debug file with this build-id, in the cache of the client.
// The caller checks what is in that file: a server may have sent anything.
func (c *Client) Find(ctx context.Context, id []byte) (path string, err error) {
	name, err := exec.LookPath(program)
	if err != nil {
		return "", ErrNoProgram
	}
	limit := time.Duration(c.number("DEBUGINFOD_MAXTIME", maxTime, 1<<31-1)) * time.Second
	size := c.number("DEBUGINFOD_MAXSIZE", maxSize, 1<<62)
	ctx, cancel := context.WithTimeout(ctx, limit+grace)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, "debuginfo", fmt.Sprintf("%x", id))
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_MAXTIME="+strconv.Itoa(int(limit/time.Second)),
		"DEBUGINFOD_MAXSIZE="+strconv.FormatUint(size, 10))
	cmd.WaitDelay = time.Second
	var out, text shortBuffer
	cmd.Stdout, cmd.Stderr = &out, &text
	run := c.Start
	if run == nil {
		run = (*exec.Cmd).Start
	}
	if err = start(cmd, size, run); err == nil {
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: no answer within %v", program, limit+grace)
	case err != nil:
		return "", fmt.Errorf("%s: %s", program, cmp.Or(lastLine(text.Bytes()), err.Error()))
	}
	// If the folder of the cache has a relative path, the client prints one, too.
	path = strings.TrimSuffix(out.String(), "\n")
	if _, err = os.Stat(path); path == "" || strings.Contains(path, "\n") || !filepath.IsAbs(path) && err != nil {
		return "", fmt.Errorf("%s printed no path: %q", program, path[:min(len(path), 200)])
	}
	return filepath.Abs(path)
}

// number returns the value of a variable, but not more than most. If the variable is not set, or is
// not a number, it returns preset. 0 means no limit to the client; here it counts as not set.
func (c *Client) number(name string, preset, most uint64) uint64 {
	if n, err := strconv.ParseUint(c.Getenv(name), 10, 64); err == nil && n > 0 {
		return min(n, most)
	}
	return preset
}

// lastLine returns the last line with text, on which the program says what went wrong.
func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	return message.OneLine(string(b[bytes.LastIndexByte(b, '\n')+1:]))
}

// shortBuffer keeps the first bytes that are written to it.
type shortBuffer struct{ bytes.Buffer }

func (s *shortBuffer) Write(b []byte) (int, error) {
	s.Buffer.Write(b[:min(len(b), maxText-min(maxText, s.Len()))])
	return len(b), nil
}
