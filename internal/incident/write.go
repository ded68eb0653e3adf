package incident

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/incident/objects"
	"github.com/csisim/csisim/internal/incident/timeline"
)

// write writes the trace.
func (m *importing) write(to io.Writer) error {
	corrections, skews := m.corrections()
	m.result.Skews = skews
	correction := func(p timeline.Place) time.Duration { return corrections[m.places.clock(p)] }
	began, ended, err := m.span(correction)
	if err != nil {
		return err
	}
	began = began.Truncate(time.Millisecond)
	m.result.Began, m.result.Ended = began, ended
	copies := m.pairs.copies()
	m.result.Calls -= len(copies)
	m.result.Events -= len(copies)
	w := &traceWriter{copies: copies, to: bufio.NewWriterSize(to, 1<<20), began: began, ended: ended, places: &m.places}
	line := func(at time.Time, place timeline.Place, body []byte) error {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		return w.line(at, place, body)
	}
	if err := m.sorted.Each(correction, line); err != nil {
		return err
	}
	return w.to.Flush()
}

// isCreation reports whether a line is the creation of an object that was collected later. An
// action in an audit log has the name of its user.
func isCreation(body []byte) bool {
	return bytes.HasPrefix(body, []byte(`"k":"api","ev":"ADDED","r":`))
}

// span returns the times of the first and the last line. Objects that are older than the logs do
// not count, unless there are only objects.
func (m *importing) span(correction func(timeline.Place) time.Duration) (began, ended time.Time, err error) {
	var oldest time.Time
	err = m.sorted.Each(correction, func(at time.Time, _ timeline.Place, body []byte) error {
		if isReal(at) {
			if oldest.IsZero() {
				oldest = at
			}
			if began.IsZero() && !isCreation(body) {
				began = at
			}
			ended = at
		}
		return nil
	})
	if began.IsZero() {
		began = oldest
	}
	if ended.IsZero() {
		ended = began
	}
	return began, ended, err
}

// isReal reports whether a time comes from a line. The end of the logs and a missing time are not
// real.
func isReal(at time.Time) bool {
	return at.Before(objects.AtTheEnd.Add(-time.Hour)) && at.Year() > 1971
}

// traceWriter writes the lines of a trace in their order.
type traceWriter struct {
	to           *bufio.Writer
	began, ended time.Time
	places       *places
	copies       map[int]bool // calls that are also in the other side's log
	seq          int
	text         []byte
}

// stampForm is the form of real times in a trace.
const stampForm = "2006-01-02T15:04:05.000Z"

// line completes a line and writes it. A line without a time comes first.
func (w *traceWriter) line(at time.Time, p timeline.Place, body []byte) error {
	if body[0] == numbered {
		if w.copies[int(binary.LittleEndian.Uint32(body[1:]))] {
			return nil
		}
		body = body[5:]
	}
	switch {
	case at.Before(w.began):
		if isCreation(body) {
			body = bytes.Replace(body, []byte(`"ADDED"`), []byte(`"INIT"`), 1)
		}
		at = w.began
	case at.After(w.ended):
		at = w.ended
	}
	w.seq++
	b := append(w.text[:0], `{"t":`...)
	b = strconv.AppendInt(b, at.Sub(w.began).Milliseconds(), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, int64(w.seq), 10)
	b = append(b, `,"at":"`...)
	b = at.AppendFormat(b, stampForm)
	b = append(b, '"')
	if node := w.places.node(p); node != "" && !bytes.Contains(body, []byte(`"node":"`)) {
		b = timeline.AppendField(b, "node", node)
	}
	b = append(append(append(b, ','), body...), "}\n"...)
	w.text = b
	if _, err := w.to.Write(b); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}
