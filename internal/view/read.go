package view

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// longestLine is the longest line of a trace that is read; longer ones are left out.
const longestLine = 16 << 20

// mostEvents is how many events of a trace are read: a page of more does no browser show.
const mostEvents = 2_000_000

// mentioned is how many lines that cannot be read are named.
const mentioned = 3

// Read adds what can be read of a trace in JSON Lines, and returns what cannot, a sentence each. The error is for what
// cannot be read at all.
func (e *Encoder) Read(from io.Reader) (problems []string, err error) {
	lines := bufio.NewReaderSize(from, 1<<20)
	bad := 0
	for number := 1; ; number++ {
		if e.events >= e.most {
			problems = append(problems, fmt.Sprintf("Only the first %s are shown: line %d and all that follow are left out. Cut the trace to see them.", plural.Of(e.most, "event"), number))
			break
		}
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return problems, err
		}
		ended := errors.Is(err, io.EOF)
		if problem := e.read(bytes.TrimSpace(line), ended); problem != "" {
			if bad++; bad <= mentioned {
				problems = append(problems, fmt.Sprintf("Line %d %s.", number, problem))
			}
		}
		if ended {
			break
		}
	}
	if more := bad - mentioned; more > 0 {
		problems = append(problems, fmt.Sprintf("%s cannot be read either.", plural.Of(more, "further line")))
	}
	if e.events == 0 && bad == 0 {
		return nil, errors.New("there is no event in it")
	}
	if e.events == 0 {
		return nil, fmt.Errorf("no line of it is an event of a trace: line 1 %s", problemOf(problems))
	}
	return append(problems, e.news()...), nil
}

// readLine reads up to the end of a line. Of one that is too long it keeps only so much that this shows.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		if len(line) <= longestLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// problemOf is the first problem without its line.
func problemOf(problems []string) string {
	return string(bytes.TrimSuffix([]byte(problems[0][len("Line 1 "):]), []byte(".")))
}

// read adds a line. It returns what is wrong with it, empty if nothing.
func (e *Encoder) read(line []byte, last bool) string {
	switch {
	case len(line) == 0:
		return ""
	case len(line) > longestLine:
		return "is longer than 16 MiB and left out"
	}
	var l trace.Line
	err := json.Unmarshal(line, &l)
	switch {
	case err != nil && last:
		return "is cut off: the trace was not written to its end"
	case err != nil:
		return "is no JSON object: " + err.Error()
	case l.K == "":
		return "has no kind (field k) and is no event"
	}
	if err := e.add(l, line); err != nil {
		return "is no event of a trace: " + err.Error()
	}
	return ""
}

// kinds are those of this version.
var kinds = map[trace.Kind]bool{
	trace.Call: true, trace.API: true, trace.KubeEvent: true, trace.Runtime: true, trace.Files: true, trace.FileChange: true, trace.SystemCall: true, trace.Step: true,
	trace.Registration: true, trace.ChoiceMade: true, trace.FaultFired: true, trace.Violation: true, trace.Remark: true, trace.AnswerLost: true,
	trace.DataLost: true, trace.Unmounted: true, trace.Died: true,
}

// news are the kinds of events that this version does not know.
func (e *Encoder) news() []string {
	var problems []string
	for _, kind := range e.unknown {
		problems = append(problems, fmt.Sprintf("Events of kind %q are of a newer csisim or of another program: they are shown as they are.", kind))
	}
	return problems
}
