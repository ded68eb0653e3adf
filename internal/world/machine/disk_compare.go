package machine

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// compareAround compares the directories on the way to a host path, and all known paths below it.
func (w *diskWatch) compareAround(real string) {
	for at := w.root; at != real; {
		below, ok := cutDir(real, at)
		if !ok {
			break
		}
		at = filepath.Join(at, components(below)[0])
		w.compare(at, true)
	}
	for _, name := range w.knownBelow(real) {
		w.compare(name, true)
	}
	if real == w.root {
		w.compareEntries(real)
	}
}

// compare reports the difference between the known state of a path and its current state. If
// another file is there now, the known one counts as removed only if its removal was observed: a
// rename over a socket is a creation (K-REG-3).
func (w *diskWatch) compare(real string, removalSeen bool) {
	was, known := w.known[real]
	is, exists := identify(real)
	if known && (!exists || is != was) && removalSeen {
		for _, name := range w.knownBelow(real) {
			w.forget(name)
		}
		w.forget(real)
	}
	if !exists || known && is == was {
		return
	}
	w.known[real] = is
	w.report(Created, real, is)
	if is.dir {
		_ = w.notify.Add(real) // fails only if the directory vanished, which its parent reports
		w.compareEntries(real)
	}
}

func (w *diskWatch) compareEntries(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the directory vanished, which its parent reports
	}
	for _, e := range entries {
		w.compare(filepath.Join(dir, e.Name()), false)
	}
}

func (w *diskWatch) forget(real string) {
	was := w.known[real]
	delete(w.known, real)
	w.report(Removed, real, was)
}

// knownBelow lists the known paths below a directory, entries before their directory.
func (w *diskWatch) knownBelow(dir string) []string {
	var names []string
	for name := range w.known {
		if strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, postOrder)
	return names
}

// postOrder sorts siblings by name. A directory comes after all of its entries.
func postOrder(a, b string) int {
	x, y := components(a), components(b)
	for i := range min(len(x), len(y)) {
		if c := strings.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return len(y) - len(x)
}

func (w *diskWatch) report(op Op, real string, e entry) {
	event := Event{Op: op, Path: path.Join(w.path, strings.TrimPrefix(real, w.root)), IsSocket: e.socket}
	w.queue = append(w.queue, event)
}
