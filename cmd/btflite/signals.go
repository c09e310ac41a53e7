package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
)

// guard removes temporary files and empty folders of this run when SIGINT, SIGTERM or
// SIGHUP arrives. Then it ends the process by the same signal, so that the caller sees
// the usual status. protect runs a function that has its own temporary files: the signal
// waits for it, and the function checks interrupted to end early. Until there is a file
// to guard, it catches no signals, so a command that only reads starts no threads for
// them.
type guard struct {
	watched sync.Once
	mu      sync.Mutex
	temps   map[string]struct{}      // names of drafts that have a temporary one
	open    map[*draft.File]struct{} // drafts that are open
	// written has the names of the files that rename has put in place, by place.
	written map[fileid.Place]string
	// folders are the folders that makeFolder has made, parents first.
	folders []string
	trees   []string // made by tempFolder
	// unsynced are the folders that syncFolder has left to syncFolders; nil if it leaves none.
	unsynced map[string]struct{}
	// onDeath, if set, runs before the process ends by the signal (it clears the
	// progress line). It must not call back into the guard.
	onDeath func(os.Signal)
	// meter is the line that shows how far the run is, and that all other text hides; or nil.
	meter atomic.Pointer[progress]
	// child is a program that this process waits for.
	child *os.Process

	protected int
	pending   os.Signal // arrived while protected
	die       func(os.Signal)
	incoming  chan os.Signal
	stopped   chan struct{}
	pipes     chan os.Signal // gets SIGPIPE; nobody reads it, see stream
}

// errInterrupted is the error of a protected writer after a signal.
var errInterrupted = errors.New("interrupted by a signal")

func newGuard() *guard {
	return &guard{temps: map[string]struct{}{}, open: map[*draft.File]struct{}{}, written: map[fileid.Place]string{}, die: dieBy,
		incoming: make(chan os.Signal, 1), stopped: make(chan struct{}), pipes: make(chan os.Signal, 1)}
}

// start starts to catch the signals, once. It does not catch a signal that the parent
// ignores (nohup).
func (g *guard) start() {
	g.watched.Do(func() {
		for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			if !signal.Ignored(s) {
				signal.Notify(g.incoming, s)
			}
		}
		signal.Notify(g.pipes, syscall.SIGPIPE)
		go g.watch()
	})
}

// stop no longer catches signals.
func (g *guard) stop() {
	signal.Stop(g.incoming)
	signal.Stop(g.pipes)
	close(g.stopped)
}

func (g *guard) watch() {
	for {
		select {
		case <-g.stopped:
			return
		case s := <-g.incoming:
			g.endWith(s)
		}
	}
}

// endWith ends the process like a signal.
func (g *guard) endWith(s os.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pending = s
	if g.protected == 0 {
		g.end()
	}
}

// end removes the temporary files and our empty folders, and ends the process. It holds
// g.mu, so no new file is made meanwhile.
func (g *guard) end() {
	for name := range g.temps {
		os.Remove(name)
	}
	g.removeEmpty()
	if g.child != nil {
		s, ok := g.pending.(syscall.Signal)
		if !ok {
			s = syscall.SIGTERM
		}
		_ = g.child.Signal(s) // it removes its unfinished output
		_, _ = g.child.Wait()
	}
	if g.onDeath != nil {
		g.onDeath(g.pending)
	}
	for _, dir := range g.trees {
		os.RemoveAll(dir)
	}
	g.die(g.pending)
}

// create makes a draft in the folder dir. A signal waits until its temporary name is registered, if it
// has one, so it never leaves the file behind. rename or discard follows.
func (g *guard) create(dir string, mode fs.FileMode) (*draft.File, error) {
	g.start()
	g.mu.Lock()
	defer g.mu.Unlock()
	d, err := draft.New(dir, mode)
	if err != nil {
		return nil, err
	}
	g.open[d] = struct{}{}
	g.register(d)
	return d, nil
}

// register makes a signal remove the temporary name of a draft, if it has one. It holds g.mu.
func (g *guard) register(d *draft.File) {
	if name := d.Temporary(); name != "" {
		g.temps[name] = struct{}{}
	}
}

// maxOpenDrafts is how many whole drafts stay open until they get their names. A run over thousands of kernels can have
// as many drafts.
const maxOpenDrafts = 64

// rest closes a whole draft if there are many.
func (g *guard) rest(d *draft.File) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.open) <= maxOpenDrafts {
		return nil
	}
	delete(g.open, d)
	err := d.Rest()
	g.register(d)
	return err
}

// discard discards a draft.
func (g *guard) discard(d *draft.File) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.temps, d.Temporary())
	delete(g.open, d)
	d.Discard()
}

// tempFolder makes a folder for temporary files. The caller removes it. If a signal
// arrives, the guard removes it with all its contents, after onDeath.
func (g *guard) tempFolder(pattern string) (path string, err error) {
	g.start()
	g.mu.Lock()
	defer g.mu.Unlock()
	if path, err = os.MkdirTemp("", pattern); err == nil {
		g.trees = append(g.trees, path)
	}
	return path, err
}

// rename gives a draft its name. A signal waits meanwhile. It refuses to replace a file that
// this run has written under another name. Earlier checks may miss this: two names that
// differ in case are one file in some folders, but only once the file exists, and a
// folder may become a link during the run.
func (g *guard) rename(d *draft.File, path string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if info, err := os.Lstat(path); err == nil {
		if p, ok := fileid.OfInfo(info); ok && g.written[p] != "" {
			return fmt.Errorf("it is the file that this run has written as %s", message.OneLine(g.written[p]))
		}
	}
	temporary := d.Temporary()
	if err := d.Replace(path); err != nil {
		g.register(d)
		return err
	}
	delete(g.temps, temporary)
	delete(g.open, d)
	if info, err := os.Lstat(path); err == nil {
		if p, ok := fileid.OfInfo(info); ok {
			g.written[p] = path
		}
	}
	return nil
}

// makeFolder makes a folder and its parents, if they are missing.
func (g *guard) makeFolder(path string) error {
	g.start()
	g.mu.Lock()
	defer g.mu.Unlock()
	var missing []string
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, dir := range slices.Backward(missing) {
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			g.folders = append(g.folders, dir)
		} else if !errors.Is(err, fs.ErrExist) { // otherwise another program was faster
			return err
		}
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return err
}

// removeFolders removes the folders that makeFolder has made, if they are empty.
func (g *guard) removeFolders() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeEmpty()
}

// removeEmpty is removeFolders with g.mu held.
func (g *guard) removeEmpty() {
	for _, dir := range slices.Backward(g.folders) {
		os.Remove(dir) // it fails if the folder is not empty
	}
	g.folders = nil
}

// startChild starts a program. A signal that ends this process ends the program first.
// The signal waits until the program is registered, so it never leaves the program
// running. childEnded follows when the program has ended.
func (g *guard) startChild(cmd *exec.Cmd) error {
	g.start()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	memlimit.EndFirst(cmd.Process.Pid) // it can be reported; nobody would report the end of this process
	g.child = cmd.Process
	return nil
}

func (g *guard) childEnded() {
	g.mu.Lock()
	g.child = nil
	g.mu.Unlock()
}

// run runs a program to its end, see startChild.
func (g *guard) run(cmd *exec.Cmd) error {
	if err := g.startChild(cmd); err != nil {
		return err
	}
	defer g.childEnded()
	return cmd.Wait()
}

func (g *guard) setOnDeath(f func(os.Signal)) {
	g.start()
	g.mu.Lock()
	g.onDeath = f
	g.mu.Unlock()
}

// protect runs f. Signals wait until it has returned; then the process ends without a
// return to the caller.
func (g *guard) protect(f func() error) error {
	g.start()
	g.mu.Lock()
	g.protected++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.protected--
		if g.protected == 0 && g.pending != nil {
			g.end()
		}
	}()
	return f()
}

// unprotect runs f within a function that protect runs, as if that were not protected. A signal
// removes temp, a temporary file of that function, if that is not "".
func (g *guard) unprotect(temp string, f func() error) error {
	g.mu.Lock()
	if temp != "" {
		g.temps[temp] = struct{}{}
	}
	if g.protected--; g.protected == 0 && g.pending != nil {
		g.end()
	}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.protected++
		delete(g.temps, temp)
		g.mu.Unlock()
	}()
	return f()
}

// interrupted returns errInterrupted after a signal has arrived.
func (g *guard) interrupted() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != nil {
		return errInterrupted
	}
	return nil
}

// ending ends a run like a signal, but the process by a call of exit.
type ending struct {
	why  string
	exit func()
}

// Signal implements os.Signal.
func (*ending) Signal() {}

// String implements os.Signal.
func (e *ending) String() string { return e.why }

// dieBy ends the process by the signal s.
func dieBy(s os.Signal) {
	if e, ok := s.(*ending); ok {
		e.exit()
	}
	signal.Reset(s)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
		time.Sleep(time.Second) // the signal arrives meanwhile
	}
	os.Exit(exitFailure)
}
