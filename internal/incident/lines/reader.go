package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// longest bounds the bytes that are read of a line; the rest is left out.
const longest = 1 << 20

// reader reads the records of a file.
type reader struct {
	source  *Source
	clock   *Clock
	from    *bufio.Reader
	json    fastjson.Parser
	callers texts
	secrets redactor

	number  int
	last    time.Time     // of the previous line
	offset  time.Duration // between the clocks of a program and its transport, by their zones
	ahead   Record        // read to find the end of the previous record
	isAhead bool
	pieces  string // of an unfinished line
	isPiece bool
	zoned   bool // the line before names its zone

	unzoned, cut, untimed int // lines
	firstCut              int
	lengthCut             int
}

func newReader(source *Source, clock *Clock, from io.Reader) *reader {
	return &reader{source: source, clock: clock, from: bufio.NewReaderSize(from, 1<<16), callers: texts{}}
}

// time sets the time of a record. The time of the transport is known first. The program's time is
// finer, and may lack the zone.
func (r *reader) time(to *Record, found stamp) {
	switch {
	case to.At.IsZero():
		to.At, r.zoned = found.at, found.zoned
	case found.zoned || !r.zoned:
		to.At, r.zoned = found.at, found.zoned
	default: // both name one instant, for which the program prints only the wall clock
		r.offset = zoneBetween(found.at, to.At)
		if at := found.at.Add(r.offset); within(at, to.At, lag) {
			to.At = at
		}
	}
}

// lag bounds the delay until a line is in the file of its container, or in the journal.
const lag = 5 * time.Second

func within(a, b time.Time, d time.Duration) bool { return a.Sub(b).Abs() <= d }

// zoneBetween returns the offset of a zone, in steps of 15 minutes.
func zoneBetween(local, at time.Time) time.Duration {
	const step = 15 * time.Minute
	return time.Duration(math.Round(float64(at.Sub(local))/float64(step))) * step
}

// next reads the next record, with all its lines. The error is io.EOF at the end.
func (r *reader) next(to *Record) error {
	if r.isAhead {
		*to, r.isAhead = r.ahead, false
	} else if err := r.single(to); err != nil {
		return err
	}
	if to.goesOn == ends {
		return nil
	}
	return r.complete(to)
}

// single reads a line as a record.
func (r *reader) single(to *Record) error {
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		*to = Record{Source: r.source, Number: r.number}
		r.isPiece, r.zoned = false, false
		r.peel(r.secrets.redacted(line), to)
		if r.isPiece {
			continue
		}
		r.place(to)
		return nil
	}
}

// place completes a record by its file and the line before.
func (r *reader) place(to *Record) {
	switch {
	case to.At.IsZero() && r.last.IsZero():
		r.untimed++
	case to.At.IsZero():
		to.At = r.last
	default:
		if !r.zoned {
			r.unzoned++
		}
		r.last = to.At
	}
	p := r.source.Place
	for _, field := range []struct{ to, of *string }{
		{&to.Node, &p.Node}, {&to.Program, &p.Program}, {&to.Namespace, &p.Namespace}, {&to.Pod, &p.Pod}, {&to.Container, &p.Container},
	} {
		if *field.to == "" {
			*field.to = *field.of
		}
	}
}

// line reads a line without its end.
func (r *reader) line() (string, error) {
	r.number++
	line, err := r.from.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return r.long(line)
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return "", err
	}
	return text(line), nil
}

// long reads a line that does not fit into the buffer.
func (r *reader) long(line []byte) (string, error) {
	kept := append([]byte(nil), line...)
	length, err := len(line), bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.from.ReadSlice('\n')
		length += len(line)
		if room := longest - len(kept); room > 0 {
			kept = append(kept, line[:min(room, len(line))]...)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if length > len(kept) {
		if r.cut++; r.cut == 1 {
			r.firstCut, r.lengthCut = r.number, length
		}
	}
	return text(kept), nil
}

// text returns a line as valid text.
func text(line []byte) string {
	line = uncoloured(bytes.TrimRight(line, "\r\n"))
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	return string(line)
}

// problems returns sentences about the parts that could not be read.
func (r *reader) problems() (all []Problem) {
	if r.cut > 0 {
		more := ""
		if r.cut > 1 {
			more = fmt.Sprintf("; so are %d more", r.cut-1)
		}
		all = append(all, Problem{r.source.Name, r.firstCut, fmt.Sprintf("the line has %.1f MB and is cut after 1 MB%s", float64(r.lengthCut)/1e6, more)})
	}
	return all
}
