package incident

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/objects"
	"github.com/csisim/csisim/internal/incident/timeline"
	"github.com/csisim/csisim/internal/world/plural"
)

// Options are the inputs of an import. The zero value reads nothing.
type Options struct {
	// Paths are files, folders and archives; "-" is Stdin.
	Paths []string
	Stdin io.Reader
	// Zone is the time zone of times that have none. Default: UTC.
	Zone *time.Location
	// Until is a time after the last line. It determines the years of lines. Default: the time of
	// the last change of their file.
	Until time.Time
	// OnlyFacts leaves out the lines that no pattern recognizes.
	OnlyFacts bool
}

// Result describes a trace that was written.
type Result struct {
	// Began and Ended are the times of the first and the last event.
	Began, Ended time.Time
	// Files and Lines count the content that was read, Bytes its unpacked size.
	Files, Lines int
	Bytes        int64
	// Events counts the lines of the trace; Facts, Calls and Objects are among them.
	Events, Facts, Calls, Objects int
	// Uncertain counts the calls with lines that may belong to others.
	Uncertain int
	// Programs counts the recognized lines of each program.
	Programs map[string]int
	// Skews are the corrected clocks.
	Skews []Skew
	// Problems are the unreadable parts and the assumptions of the import.
	Problems []lines.Problem
}

// Run reads logs and writes their trace. When ctx ends it stops with the error of ctx.
func Run(ctx context.Context, o Options, to io.Writer) (*Result, error) {
	m := newImport(o)
	m.ctx = ctx
	defer m.sorted.Close()
	reading := &lines.Reading{
		Clock: lines.Clock{Zone: cmp.Or(o.Zone, time.UTC), Until: o.Until}, Stdin: o.Stdin, To: m,
	}
	m.reading = reading
	if err := reading.Paths(o.Paths); err != nil {
		return nil, err
	}
	if err := m.endSource(); err != nil {
		return nil, err
	}
	r := m.result
	r.Files, r.Lines, r.Bytes = reading.Files, reading.Lines, reading.Bytes
	r.Problems = append(append(r.Problems, reading.Problems()...), m.assumptions(o)...)
	if m.sorted.Len() == 0 {
		return r, nil
	}
	return r, m.write(to)
}

// assumptions returns sentences about times.
func (m *importing) assumptions(o Options) (all []lines.Problem) {
	if n := m.reading.Unzoned; n > 0 && o.Zone == nil {
		all = append(all, lines.Problem{Text: fmt.Sprintf("times without a time zone are read as UTC (%s): set --time-zone if their clock is another", plural.Of(n, "line"))})
	}
	if n := len(m.unknown); n > 0 {
		all = append(all, lines.Problem{Text: fmt.Sprintf("no pattern recognizes a line of %s (of %s first): the lines stay in their place", plural.Of(n, "file"), slices.Min(slices.Collect(maps.Keys(m.unknown))))})
	}
	return all
}

// importing passes lines and objects on to their places.
type importing struct {
	ctx     context.Context
	options Options
	reading *lines.Reading
	result  *Result
	sorted  timeline.Sorter
	source  *lines.Source
	streams map[streamKey]*stream
	recent  recentStream
	audit   objects.Audit
	tables  objects.Tables
	places  places
	pairs   pairs
	twins   twins
	unknown map[string]bool // files without a line that a pattern recognizes
	body    []byte
}

func newImport(o Options) *importing {
	return &importing{
		options: o, unknown: map[string]bool{}, result: &Result{Programs: map[string]int{}}, streams: map[streamKey]*stream{},
		places: places{known: map[place]timeline.Place{}, nodes: map[string]string{}},
	}
}

// Record passes a line on to the stream of its program.
func (m *importing) Record(r *lines.Record) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if r.Source != m.source {
		if err := m.endSource(); err != nil {
			return err
		}
		m.source = r.Source
		m.tables = objects.Tables{Collected: m.collected(r.Source)}
	}
	return m.stream(r).take(r)
}

// collected returns the time of the collection of a file.
func (m *importing) collected(s *lines.Source) time.Time {
	switch {
	case !m.options.Until.IsZero():
		return m.options.Until
	case s.Changed.IsZero():
		return time.Now().UTC()
	}
	return s.Changed.UTC()
}

// endSource ends the streams of a file.
func (m *importing) endSource() error {
	for _, s := range m.ordered() {
		if err := s.end(); err != nil {
			return err
		}
	}
	clear(m.streams)
	m.recent = recentStream{}
	return nil
}

// Objects adds the objects of a document.
func (m *importing) Objects(source *lines.Source, form lines.Form, number int, from io.Reader) (io.Reader, error) {
	take := func(o objects.Object) error {
		return m.object(source, o.Fields, max(number, o.Line))
	}
	if form == lines.YAML {
		if err := objects.ReadYAML(from, take); err != nil {
			m.result.Problems = append(m.result.Problems, lines.Problem{File: source.Name, Text: err.Error() + ": the rest is left out"})
		}
		return nil, nil
	}
	return objects.ReadJSON(from, take)
}
