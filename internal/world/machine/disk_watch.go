package machine

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// diskWatch follows a directory tree. After every change through the machine, and after every
// inotify event of other changes, it compares the existing files to the reported ones. Thus it
// reports each creation once.
type diskWatch struct {
	d       *Disk
	root    string // on the host, without symlinks
	path    string // on the node
	onEvent func(Event)
	notify  *fsnotify.Watcher

	mu         sync.Mutex
	known      map[string]entry // by host path
	queue      []Event
	delivering bool
	stopped    bool
}

// Watch reports files that appear and disappear below dir. It reports changes through the machine
// before the call that makes them returns, and other changes from a goroutine of the watch. While
// that goroutine is in a callback, it delivers both kinds, so that callbacks never overlap.
func (d *Disk) Watch(dir string, onEvent func(Event)) (stop func(), err error) {
	w := &diskWatch{d: d, path: path.Clean(dir), onEvent: onEvent, known: map[string]entry{}}
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	err = d.look(func() error {
		if w.root, err = filepath.EvalSymlinks(d.within(dir)); err != nil {
			return err
		}
		if err := w.notify.Add(w.root); err != nil {
			return &fs.PathError{Op: "watch", Path: w.root, Err: err}
		}
		w.compareEntries(w.root) // K-REG-2
		return nil
	})
	if err != nil {
		_ = w.notify.Close()
		return nil, err
	}
	d.mu.Lock()
	d.watches = append(d.watches, w)
	d.mu.Unlock()
	w.deliver()
	go w.follow()
	return func() { d.unwatch(w) }, nil
}

func (d *Disk) unwatch(w *diskWatch) {
	d.mu.Lock()
	d.watches = slices.DeleteFunc(d.watches, func(other *diskWatch) bool { return other == w })
	d.mu.Unlock()
	w.stop()
}

// follow handles changes that were not made through the machine, until the watch is stopped.
func (w *diskWatch) follow() {
	for {
		select {
		case event, ok := <-w.notify.Events:
			if !ok {
				return
			}
			// K-REG-3: writes, chmod and renames away do not matter.
			if event.Has(fsnotify.Create) || event.Has(fsnotify.Remove) {
				w.update(func() { w.compare(event.Name, event.Has(fsnotify.Remove)) })
			}
		case _, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			w.update(func() { w.compareAround(w.root) }) // events were lost
		}
	}
}

// update compares the paths at which the machine's mounts are visible, and delivers the
// differences.
func (w *diskWatch) update(compare func()) {
	w.mu.Lock()
	_ = w.d.do(func() error { compare(); return nil }) // a closed machine has no changes
	w.mu.Unlock()
	w.deliver()
}

// deliver delivers the queue, unless another goroutine is doing that.
func (w *diskWatch) deliver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.claim() {
		w.drain()
	}
}

// claim reports whether its caller, which holds the lock, must drain the queue. Only one goroutine
// does this at a time. If the queue is empty, it claims nothing, because a simultaneous change
// elsewhere would have to wait.
func (w *diskWatch) claim() bool {
	if w.delivering || len(w.queue) == 0 {
		return false
	}
	w.delivering = true
	return true
}

// drain makes the callbacks without the lock that its caller holds, so that a callback may use the
// machine. The current drain also delivers the resulting events.
func (w *diskWatch) drain() {
	for len(w.queue) > 0 && !w.stopped {
		event := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		w.onEvent(event)
		w.mu.Lock()
	}
	w.delivering = false
}

func (w *diskWatch) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	// Close runs in the background, because the kernel blocks it: for 14 ms with two processors.
	go func() { _ = w.notify.Close() }()
}
