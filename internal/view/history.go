package view

import (
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// history locates the changes of objects in a file.
type history map[key]*changes

// changes are the changes of an object.
type changes struct {
	rows   []int
	births []int      // the positions of rows that create the object anew
	last   remembered // from an earlier lookup
}

// remembered is the state of an object before a row.
type remembered struct {
	row    int
	object map[string]any
}

func (h history) add(l *trace.Line, row int) {
	at := keyOf(l)
	c := h[at]
	if c == nil {
		c = &changes{}
		h[at] = c
	}
	if l.Ev != "MODIFIED" {
		c.births = append(c.births, len(c.rows))
	}
	c.rows = append(c.rows, row)
}

// before returns an object in its state before a row (nil if there was none), and the number of
// changes since it was last written completely.
func (f *File) before(at key, row int) (object map[string]any, since int, err error) {
	c := f.changes[at]
	next, _ := slices.BinarySearch(c.rows, row)
	born, _ := slices.BinarySearch(c.births, next)
	first := 0
	if since = next; born > 0 {
		first = c.births[born-1]
		since = next - first - 1
	}
	now := newObjects()
	if begin, _ := slices.BinarySearch(c.rows, c.last.row); c.last.object != nil && begin > first && begin <= next {
		first, now.now[at] = begin, c.last.object
	}
	for _, r := range c.rows[first:next] {
		_, change, err := f.line(r)
		if err != nil {
			return nil, 0, err
		}
		now.change(&change)
	}
	return now.now[at], since % fullEvery, nil
}
