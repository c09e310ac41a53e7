package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/btflite/btflite/internal/debuginfod"
	"github.com/btflite/btflite/internal/message"
)

// serversVariable names the servers.
const serversVariable = debuginfod.URLs

// newDebugFinder returns a function that asks debuginfod servers for the debug file of a
// build-id, or nil if no variable names any. The function says on standard error which
// servers it asks, because that may take long and tells them what is being read. It asks
// once for a build-id.
func newDebugFinder(c *cli) func(file string, id []byte) (path string, err error) {
	if urls, _ := c.lookupEnv(serversVariable); urls == "" {
		return nil
	}
	client := debuginfod.Client{Getenv: func(name string) string {
		value, _ := c.lookupEnv(name)
		return value
	}, Start: c.guard.startChild}
	type answer struct {
		path string
		err  error
	}
	var mu sync.Mutex
	answers := map[string]answer{}
	return func(file string, id []byte) (path string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if a, asked := answers[string(id)]; asked {
			return a.path, a.err
		}
		if !client.Asks(id) {
			return "", debuginfod.ErrNoServer
		}
		file = message.OneLine(file)
		c.warn(fmt.Sprintf("%s: note: the debug file of build-id %x is in no folder here: debuginfod-find asks %s", file, id, client.Servers()))
		path, err = client.Find(context.Background(), id)
		c.guard.childEnded()
		if err != nil {
			c.warn(fmt.Sprintf("%s: note: no debug file: %v", file, err))
		}
		answers[string(id)] = answer{path, err}
		return path, err
	}
}
