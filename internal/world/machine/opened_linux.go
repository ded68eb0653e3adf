package machine

import (
	"maps"
	"slices"
	"strings"
)

// note counts a waiting call that opens a file to read it.
func (c *changes) note(n *notification) {
	i := slices.IndexFunc(lookups, func(l change) bool { return l.name == lookOpened && l.number == uint32(n.number) })
	if c.opened == nil || i < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened[ofItself(n.pathOf(lookups[i].of))]++
}

// ofItself writes the directory of a process in /proc as that of the process itself.
func ofItself(name string) string {
	rest, is := strings.CutPrefix(name, "/proc/")
	if process, file, found := strings.Cut(rest, "/"); is && found && strings.Trim(process, "0123456789") == "" {
		return "/proc/self/" + file
	}
	return name
}

// Opened returns how often the program and its children have opened files for reading, by path. It
// is nil unless the Command has SeesLookups.
func (p *Process) Opened() map[string]int {
	if p.changes == nil {
		return nil
	}
	p.changes.mu.Lock()
	defer p.changes.mu.Unlock()
	return maps.Clone(p.changes.opened)
}
