package incident

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/calls"
	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/incident/timeline"
	"github.com/csisim/csisim/internal/world/trace"
)

// streamKey identifies the lines of one program in a file.
type streamKey struct{ node, program, namespace, pod, container string }

// recentStream is the stream of the previous line, which is usually also the stream of the next
// line.
type recentStream struct {
	key streamKey
	of  *stream
}

// stream is the log of one program.
type stream struct {
	of      *importing
	key     streamKey
	order   int
	place   timeline.Place
	table   *messages.Table // nil if the program is unknown
	program string
	driver  string
	calls   calls.Tracker
	held    []lines.Record // until the program is known
	isMixed bool           // the file may have lines of several programs
	// byMethods reports that only calls are known: their methods name the callers.
	byMethods bool
}

// mostHeld is the number of lines that are used to recognize a program.
const mostHeld = 400

// stream returns the stream of a line.
func (m *importing) stream(r *lines.Record) *stream {
	key := streamKey{r.Node, r.Program, r.Namespace, r.Pod, r.Container}
	if m.recent.of != nil && m.recent.key == key {
		return m.recent.of
	}
	s := m.streams[key]
	if s == nil {
		s = m.newStream(key, r)
		m.streams[key] = s
	}
	m.recent = recentStream{key, s}
	return s
}

func (m *importing) newStream(key streamKey, r *lines.Record) *stream {
	pod := key.pod
	if key.namespace != "" && pod != "" {
		pod = key.namespace + "/" + pod
	}
	s := &stream{of: m, key: key, order: len(m.streams), place: m.places.of(place{key.node, pod, r.Source.Name})}
	for _, name := range []string{key.container, key.program, key.pod} {
		if s.table = messages.Named(name); name != "" && s.table != nil {
			s.identify(s.table)
			return s
		}
	}
	if s.program = cmp.Or(key.container, key.program); s.program != "" {
		s.table = messages.Calls // many drivers print calls alike
	}
	return s
}

func (s *stream) identify(t *messages.Table) { s.table, s.program, s.driver = t, t.Program, t.Driver }

// ordered returns the streams of a file in the order of their first lines.
func (m *importing) ordered() []*stream {
	return slices.SortedFunc(maps.Values(m.streams), func(a, b *stream) int { return a.order - b.order })
}

// take adds a line. Lines of an unknown program are held back until there are enough of them.
func (s *stream) take(r *lines.Record) error {
	if s.table != nil {
		return s.record(r)
	}
	s.held = append(s.held, *r)
	if len(s.held) < mostHeld {
		return nil
	}
	return s.release(false)
}

// release recognizes the program of the held lines, and adds them. A short file may contain lines
// of several programs.
func (s *stream) release(isMixed bool) error {
	held := s.held
	s.held = nil
	s.isMixed = isMixed
	t, score := s.recognized(held)
	switch {
	case score == 0:
		s.program = "unknown"
		if len(held) > 0 {
			s.of.unknown[s.of.source.Name] = true
		}
	case score < messages.Own:
		s.identify(messages.Calls)
		s.byMethods = true
	default:
		s.identify(t)
	}
	for i := range held {
		if err := s.record(&held[i]); err != nil {
			return err
		}
	}
	return nil
}

// recognized returns the program that prints most of the lines, and their weight. The name of the
// file decides if that program prints some of them.
func (s *stream) recognized(held []lines.Record) (best *messages.Table, most int) {
	if named := messages.Named(baseOf(s.of.source.Name)); named != nil && named.Score(held) > 0 {
		return named, messages.Own
	}
	held = slices.DeleteFunc(slices.Clone(held), func(r lines.Record) bool { return !messages.IsKnown(r.Message) })
	for _, t := range messages.All() {
		if n := t.Score(held); n > most {
			best, most = t, n
		}
	}
	return best, most
}

// baseOf returns the name of a file without its folder and its first extension.
func baseOf(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	return base
}

// end adds the remaining lines and calls after the last line of a file.
func (s *stream) end() error {
	if s.table == nil {
		if err := s.release(true); err != nil {
			return err
		}
	}
	return s.done(s.calls.End())
}

// record adds a line as a fact, as a part of a call, or as a plain line.
func (s *stream) record(r *lines.Record) error {
	if r.Program == "" && strings.Contains(r.Message, "audit.k8s.io/") {
		if is, err := s.audited(r); is {
			return err
		}
	}
	if r.Message == "" {
		return s.line(r)
	}
	if event, is := eventOf(r); is {
		event.From, event.Src = s.program, refOf(r.Source, r.Number)
		return s.of.add(r.At, s.place, &event)
	}
	table, f, known := s.match(r)
	switch {
	case known && f.Means.IsConnection():
		done, isOfCall := s.calls.Connection(r, f)
		if err := s.done(done); err != nil || isOfCall || s.of.options.OnlyFacts {
			return err
		}
		return s.line(r)
	case known && f.Means.IsCall():
		s.of.result.Programs[s.nameOf(table)]++
		s.driver = cmp.Or(s.driver, table.Driver)
		return s.done(s.calls.Take(r, f))
	case known:
		s.of.result.Programs[s.nameOf(table)]++
		s.of.result.Facts++
		if driver := f.Fields["driver"]; driver != "" && s.driver == "" && !table.IsDriver {
			s.driver = driver
		}
		if err := s.done(s.ended(table, r, f)); err != nil {
			return err
		}
		return s.fact(s.nameOf(table), r, f)
	}
	if r.Caller == "" && r.Level == 0 {
		if event, is := s.of.tables.Row(r.Message); is {
			event.Line.Src = refOf(r.Source, r.Number)
			return s.of.fact(event, s.place)
		}
	}
	if err := s.done(s.calls.Settle(r.At)); err != nil || s.of.options.OnlyFacts || r.Text == "" {
		return err
	}
	return s.line(r)
}

// ended returns the calls that end with a fact. A restarted kubelet leaves the calls of the
// previous one without an answer.
func (s *stream) ended(t *messages.Table, r *lines.Record, f messages.Fact) []*calls.Call {
	switch {
	case t.IsDriver:
		return s.calls.Refusal(r, f)
	case t.Program == kubelet && f.Means == messages.ProgramStarted:
		return s.calls.End()
	}
	return s.calls.Operation(r, f)
}

// nameOf returns the name of a table's program. A table of calls applies to any program.
func (s *stream) nameOf(t *messages.Table) string {
	if t == messages.Calls && s.program != "" {
		return s.program
	}
	return t.Program
}

// match recognizes a message. In a short file of an unknown program, all programs are tried.
func (s *stream) match(r *lines.Record) (*messages.Table, messages.Fact, bool) {
	var own messages.Fact
	known := false
	if s.table != nil {
		if own, known = s.table.Match(r.Message, r.Values); known && own.IsWhole() || !s.isMixed {
			return s.table, own, known
		}
	}
	if !messages.IsKnown(r.Message) {
		return s.table, own, known
	}
	for _, t := range messages.All() {
		f, ok := t.Match(r.Message, r.Values)
		switch {
		case !ok || !f.IsWhole() && known:
		case f.IsOfAnyProgram():
			return messages.Calls, f, true
		default:
			return t, f, true
		}
	}
	return s.table, own, known
}

// audited adds the change in a line of an audit log.
func (s *stream) audited(r *lines.Record) (is bool, err error) {
	f, isChange := s.of.audit.Line(r.Message)
	if !isChange {
		return false, nil
	}
	f.Line.Src = refOf(r.Source, r.Number)
	return true, s.of.fact(f, s.place)
}

// refOf names a line of a file.
func refOf(source *lines.Source, number int) string {
	return source.Name + ":" + strconv.Itoa(number)
}

// fact adds a recognized message.
func (s *stream) fact(program string, r *lines.Record, f messages.Fact) error {
	l := trace.Line{
		K: trace.Log, From: program, M: f.Name(), Ev: string(f.Means), Msg: r.Message, Src: refOf(r.Source, r.Number),
		Driver: f.Fields["driver"], Code: f.Fields["code"],
	}
	if len(f.Fields) > 0 {
		l.Obj = map[string]string(f.Fields)
	}
	s.of.pairs.fact(program, f, r.Node, r.At, s.place)
	if l.Code == "" && (r.Level == 'E' || r.Level == 'F') {
		l.Code = "Error"
	}
	return s.of.add(r.At, s.place, &l)
}

// line adds a line that no pattern recognizes.
func (s *stream) line(r *lines.Record) error {
	b := append(s.of.body[:0], `"k":"log"`...)
	b = timeline.AppendField(b, "from", s.program)
	b = timeline.AppendField(b, "msg", r.Text)
	b = timeline.AppendField(b, "src", refOf(r.Source, r.Number))
	s.of.body = b
	s.of.result.Events++
	return s.of.sorted.Add(r.At, s.place, bytes.Clone(b))
}

// addCall adds a call. The number of a call in a driver's log is before its text.
func (m *importing) addCall(c *calls.Call, number int, place timeline.Place, l *trace.Line) error {
	if number == 0 {
		return m.add(c.Begin, place, l)
	}
	text, err := l.Text()
	if err != nil {
		return err
	}
	m.result.Events++
	body := binary.LittleEndian.AppendUint32([]byte{numbered}, uint32(number))
	return m.sorted.Add(c.Begin, place, append(body, text[len(`{"t":0,`):len(text)-1]...))
}

// numbered begins the text of a call with a number.
const numbered = 1

// add adds a line of a trace. Fields that depend on other lines are set when it is written.
func (m *importing) add(at time.Time, place timeline.Place, l *trace.Line) error {
	text, err := l.Text()
	if err != nil {
		return err
	}
	m.result.Events++
	return m.sorted.Add(at, place, text[len(`{"t":0,`):len(text)-1])
}
