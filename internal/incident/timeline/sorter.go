package timeline

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Place is the number, from 0, of a place with a separate clock.
type Place int

// entry is a fact: the fields of its line, except those that depend on other lines.
type entry struct {
	at    int64 // ns since 1970, by the clock of its place
	place Place
	body  []byte
}

// Sorter sorts facts by time. It keeps few of them in memory, and the others in a temporary file.
type Sorter struct {
	// Room is the number of bytes in memory. Default: 24 MB.
	Room int

	kept     []entry
	size     int
	file     *os.File
	written  int64
	segments []segment
	count    int
}

// segment is a sorted part of the file, of one place.
type segment struct {
	place    Place
	from, to int64
}

const usualRoom = 24 << 20

// perEntry is the memory of a fact in addition to its text.
const perEntry = 64

// Add adds a fact. The body is the text of a line's fields, without braces.
func (s *Sorter) Add(at time.Time, place Place, body []byte) error {
	s.kept = append(s.kept, entry{at.UnixNano(), place, body})
	s.count++
	if s.size += len(body) + perEntry; s.size < cmp.Or(s.Room, usualRoom) {
		return nil
	}
	return s.spill()
}

// Len returns the number of facts.
func (s *Sorter) Len() int { return s.count }

// sort orders the facts in memory by place and time. Facts with the same time keep the order of
// their lines.
func (s *Sorter) sort() {
	slices.SortStableFunc(s.kept, func(a, b entry) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.at, b.at)) })
}

// spill writes the facts in memory to the file.
func (s *Sorter) spill() error {
	if s.file == nil {
		file, err := os.CreateTemp("", "csisim-import-*")
		if err != nil {
			return fmt.Errorf("make a temporary file: %w", err)
		}
		s.file = file
		_ = os.Remove(file.Name()) // the removed file exists until it is closed
	}
	s.sort()
	to := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.written), 1<<20)
	for i, e := range s.kept {
		if i == 0 || e.place != s.kept[i-1].place {
			s.segments = append(s.segments, segment{place: e.place, from: s.written})
		}
		var head [12]byte
		binary.LittleEndian.PutUint64(head[:], uint64(e.at))
		binary.LittleEndian.PutUint32(head[8:], uint32(len(e.body)))
		_, _ = to.Write(head[:]) // an error stays until Flush
		_, _ = to.Write(e.body)
		s.written += int64(len(head) + len(e.body))
		s.segments[len(s.segments)-1].to = s.written
	}
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	s.kept, s.size = s.kept[:0], 0
	return nil
}

// Close removes the temporary file.
func (s *Sorter) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// stream reads the facts of a segment, or of a place in memory.
type stream struct {
	place  Place
	now    entry
	memory []entry
	file   *bufio.Reader
}

// next reads the next fact; the error is io.EOF after the last one.
func (t *stream) next() error {
	if t.file == nil {
		if len(t.memory) == 0 {
			return io.EOF
		}
		t.now, t.memory = t.memory[0], t.memory[1:]
		return nil
	}
	var head [12]byte
	if _, err := io.ReadFull(t.file, head[:]); err != nil {
		return err
	}
	body := make([]byte, binary.LittleEndian.Uint32(head[8:]))
	if _, err := io.ReadFull(t.file, body); err != nil {
		return fmt.Errorf("read a temporary file: %w", err)
	}
	t.now = entry{int64(binary.LittleEndian.Uint64(head[:])), t.place, body}
	return nil
}

// streams returns all sorted parts, those in the file first.
func (s *Sorter) streams() (all []*stream) {
	for _, g := range s.segments {
		section := io.NewSectionReader(s.file, g.from, g.to-g.from)
		all = append(all, &stream{place: g.place, file: bufio.NewReaderSize(section, 1<<14)})
	}
	s.sort()
	for from := 0; from < len(s.kept); {
		to := from
		for to < len(s.kept) && s.kept[to].place == s.kept[from].place {
			to++
		}
		all = append(all, &stream{place: s.kept[from].place, memory: s.kept[from:to]})
		from = to
	}
	return all
}

// Each calls do with all facts in the order of their corrected times.
func (s *Sorter) Each(correction func(Place) time.Duration, do func(at time.Time, place Place, body []byte) error) error {
	var heap merging
	for i, t := range s.streams() {
		switch err := t.next(); {
		case err == nil:
			heap.push(merged{t.now.at - int64(correction(t.place)), i, t})
		case !errors.Is(err, io.EOF):
			return err
		}
	}
	for len(heap) > 0 {
		first := &heap[0]
		if err := do(time.Unix(0, first.at).UTC(), first.of.place, first.of.now.body); err != nil {
			return err
		}
		switch err := first.of.next(); {
		case errors.Is(err, io.EOF):
			heap.pop()
			continue
		case err != nil:
			return err
		}
		first.at = first.of.now.at - int64(correction(first.of.place))
		heap.down(0)
	}
	return nil
}
