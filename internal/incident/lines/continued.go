package lines

import (
	"errors"
	"io"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// continuation is the format of an entry's lines after the first one.
type continuation int

const (
	ends      continuation = iota // it has one line
	inMessage                     // of tracing: the message may have several lines
	inPlaces                      // of tracing, pretty: spans follow the place in the source
	inValue                       // of klog: a value with several lines, which ends with " >"
)

// longestEntry is the number of bytes of further lines that are added to an entry.
const longestEntry = 1 << 16

// complete adds the further lines of an entry.
func (r *reader) complete(to *Record) error {
	for size := 0; to.goesOn != ends && size < longestEntry; size += len(r.ahead.Text) + 1 {
		err := r.single(&r.ahead)
		if errors.Is(err, io.EOF) {
			return nil // the next read returns it again
		}
		if err != nil {
			return err
		}
		if !to.isContinuedBy(&r.ahead) {
			r.isAhead = true
			return nil
		}
		to.add(r.ahead.Text)
	}
	return nil
}

// isContinuedBy reports whether a line belongs to the entry: the line has no header, and comes from
// the same program.
func (r *Record) isContinuedBy(next *Record) bool {
	if !next.bare || next.Program != r.Program || next.Node != r.Node || next.Pod != r.Pod || next.Container != r.Container {
		return false
	}
	text := next.Text
	switch r.goesOn {
	case inValue:
		return strings.HasPrefix(text, "\t") || strings.HasPrefix(text, " >")
	case inPlaces:
		return text == "" || strings.HasPrefix(text, inSpan) || strings.HasPrefix(text, onThread)
	}
	return text != "{" && !strings.HasPrefix(text, "==== ")
}

// add adds a line to the entry.
func (r *Record) add(line string) {
	r.Text += "\n" + line
	switch {
	case r.goesOn == inValue:
		r.values.pairs += "\n" + line
		if strings.HasPrefix(line, " >") && !strings.HasSuffix(line, "=<") {
			r.goesOn = ends
		}
	case r.goesOn == inPlaces && line == "":
		r.goesOn = ends
	case r.goesOn == inPlaces && strings.HasPrefix(line, inSpan):
		r.span(line[len(inSpan):])
	case r.goesOn == inMessage && line != "":
		if found := sourceLine().FindStringSubmatch(line); found != nil {
			r.Caller, r.goesOn = fileOf(found[1]), inPlaces
			return
		}
		r.Message += "\n" + line
	}
}

// The prefixes of the lines that tracing's pretty format prints below a message: the spans around
// it, from the inner to the outer span, and the thread.
const (
	inSpan   = "    in "
	onThread = "    on "
)

var (
	sourceLine = lazyregexp.New(`^    at (\S+:\d+)(?: on .*)?$`)
	spanField  = lazyregexp.New(`\b([a-z_]+(?:\.[a-z_]+)+): (?:"([^"]*)"|([^\s,"]+))`)
)

// span reads the fields with dots in their names, such as volume.uuid, from a span. The inner one
// names the operation of an event that is only an error.
func (r *Record) span(text string) {
	name, values, _ := strings.Cut(text, " with ")
	if r.values.known == nil {
		r.values.known = map[string]string{}
		if strings.HasPrefix(r.Message, "error: ") {
			r.Message = name[strings.LastIndexByte(name, ':')+1:] + ": " + r.Message
		}
	}
	for _, found := range spanField().FindAllStringSubmatch(values, -1) {
		if _, is := r.values.known[found[1]]; !is {
			r.values.known[found[1]] = found[2] + found[3]
		}
	}
}
