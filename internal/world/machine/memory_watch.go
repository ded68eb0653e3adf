package machine

import (
	"slices"
)

// memoryWatch follows a directory by its inode, like inotify.
type memoryWatch struct {
	dir     *inode
	path    string
	onEvent func(Event)
	stopped bool
}

// notice is an event that was not yet delivered to a watch.
type notice struct {
	to    *memoryWatch
	event Event
}

func (n notice) deliver() {
	if !n.to.stopped {
		n.to.onEvent(n.event)
	}
}

// Watch reports files that appear and disappear below dir, in the goroutine that causes the change.
func (m *Memory) Watch(dir string, onEvent func(Event)) (stop func(), err error) {
	w := &memoryWatch{path: clean(dir), onEvent: onEvent}
	err = m.change(func() error {
		at, err := m.follow(dir)
		if err != nil {
			return pathError("watch", dir, err)
		}
		w.dir = at.node
		m.watches = append(m.watches, w)
		m.announce(w, w.dir)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return func() { m.unwatch(w) }, nil
}

// announce reports the existing files when a watch begins (K-REG-2).
func (m *Memory) announce(w *memoryWatch, dir *inode) {
	for _, child := range dir.children() {
		m.send(w, Created, child)
		m.announce(w, child)
	}
}

func (m *Memory) unwatch(w *memoryWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.stopped = true
	m.watches = slices.DeleteFunc(m.watches, func(other *memoryWatch) bool { return other == w })
}

// notify sends a change to all watches. A removed node is still in its place.
func (m *Memory) notify(op Op, node *inode) {
	for _, w := range m.watches {
		m.send(w, op, node)
	}
}

func (m *Memory) send(w *memoryWatch, op Op, node *inode) {
	if !node.isIn(w.dir) {
		return
	}
	event := Event{Op: op, Path: w.pathOf(node), IsSocket: node.isSocket()}
	m.pending = append(m.pending, notice{to: w, event: event})
}

// pathOf returns the watch's path of the directory, or of a node below it.
func (w *memoryWatch) pathOf(node *inode) string {
	if node == w.dir {
		return w.path
	}
	return below(w.pathOf(node.parent), node.name)
}
