package proxy

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

// Record is a line of the records: an event of the proxy's trace with its real time. A call has one
// record for its start and one for its end, both with the same Start and Seq.
type Record struct {
	trace.Line // without request and answer
	// Request and Response are encoded by gRPC, with secrets redacted; nil if there is none.
	Request, Response []byte
	// Start is the start time of the proxy, in nanoseconds since 1970: with Seq it identifies an
	// event.
	Start int64 `json:"start"`
	// At is the time of the event, or of the start of a call. Took is the call's duration. Both are
	// in nanoseconds.
	At   int64 `json:"at"`
	Took int64 `json:"took,omitempty"`
	// Open means that the call had not ended when this was written.
	Open bool `json:"open,omitempty"`
}

// records are the files in a directory, one for each start of a proxy, in the order of their names.
type records struct {
	dir      string
	recorder *trace.Recorder
	began    time.Time
	seen     uint64         // Seq of the last event that was written
	open     []*trace.Event // calls that have begun

	mu    sync.Mutex
	file  *os.File
	news  chan struct{} // closed when there is more to read
	ended bool
	err   error // error of the first write that failed
}

// recordSuffix is the suffix of the files.
const recordSuffix = ".jsonl"

func openRecords(dir string, r *trace.Recorder, began time.Time) (*records, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of records: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, strconv.FormatInt(began.UnixNano(), 10)+recordSuffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a file for records: %w", err)
	}
	return &records{dir: dir, recorder: r, began: began, file: file, news: make(chan struct{})}, nil
}

// take writes the events since the last time. Only the kernel's goroutine calls it.
func (r *records) take() {
	var lines []byte
	if last := r.recorder.Last(); last > r.seen {
		all := r.recorder.Events()
		from, _ := slices.BinarySearchFunc(all, r.seen+1, func(e *trace.Event, seq uint64) int { return int(int64(e.Seq) - int64(seq)) })
		for _, e := range all[from:] {
			open := e.Kind == trace.Call && !calls.Answered(e)
			if open {
				r.open = append(r.open, e)
			}
			lines = r.appendEvent(lines, e, open)
		}
		r.seen = last
	}
	r.open = slices.DeleteFunc(r.open, func(e *trace.Event) bool {
		ended := calls.Answered(e)
		if ended {
			lines = r.appendEvent(lines, e, false)
		}
		return ended
	})
	if len(lines) > 0 {
		r.append(lines)
	}
}

// appendEvent appends a record of an event.
func (r *records) appendEvent(lines []byte, e *trace.Event, open bool) []byte {
	return r.appendRecord(lines, lineOf(e), record{
		request: wireOf(e.Request), response: wireOf(e.Response), recordTimes: recordTimes{At: int64(e.At), Took: int64(e.Took), Open: open},
	})
}

// lineOf returns an event as a line without its messages.
func lineOf(e *trace.Event) []byte {
	bare, exchange := *e, *e.Exchange
	exchange.Request, exchange.Response = nil, nil
	bare.Exchange = &exchange
	line, err := bare.Line()
	if err != nil {
		line = trace.Line{K: e.Kind, Seq: e.Seq, M: e.Method, Msg: "cannot be shown: " + err.Error()}
	}
	text, err := line.Text()
	if err != nil {
		return []byte("{}")
	}
	return text
}

// known discards fields that a message's type does not have, because they may be secret.
var known = proto.UnmarshalOptions{DiscardUnknown: true}

// wireOf encodes the known fields of a message like gRPC, with secrets redacted; nil if there is
// none.
func wireOf(m proto.Message) []byte {
	content, err := proto.Marshal(trace.WithoutSecrets(m))
	if err != nil || content == nil {
		return nil
	}
	shown := m.ProtoReflect().New().Interface()
	if known.Unmarshal(content, shown) != nil {
		return nil
	}
	if content, err = proto.Marshal(shown); err != nil {
		return nil
	}
	return content
}

// record holds the recorded data of an event that its line lacks.
type record struct {
	request, response []byte
	recordTimes       // since the proxy was started
}

func (r *records) appendRecord(lines, line []byte, what record) []byte {
	lines = append(append(lines, `{"line":`...), line...)
	lines = appendContent(lines, `,"request":"`, what.request)
	lines = appendContent(lines, `,"response":"`, what.response)
	start := r.began.UnixNano()
	lines = strconv.AppendInt(append(lines, `,"start":`...), start, 10)
	lines = strconv.AppendInt(append(lines, `,"at":`...), start+what.At, 10)
	if what.Took > 0 {
		lines = strconv.AppendInt(append(lines, `,"took":`...), what.Took, 10)
	}
	if what.Open {
		lines = append(lines, `,"open":true`...)
	}
	return append(lines, '}', '\n')
}

// appendContent appends bytes in the form of JSON, unless there are none.
func appendContent(lines []byte, name string, content []byte) []byte {
	if content == nil {
		return lines
	}
	return append(base64.StdEncoding.AppendEncode(append(lines, name...), content), '"')
}

// recordLine is a Record without the UnmarshalJSON of trace.Line, which would hide the other
// fields.
type recordLine struct {
	Line     trace.Line `json:"line"`
	Request  []byte     `json:"request"`
	Response []byte     `json:"response"`
	recordTimes
}

type recordTimes struct {
	Start int64 `json:"start"`
	At    int64 `json:"at"`
	Took  int64 `json:"took,omitempty"`
	Open  bool  `json:"open,omitempty"`
}

// UnmarshalJSON reads a line.
func (r *Record) UnmarshalJSON(text []byte) error {
	var line recordLine
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	*r = Record{line.Line, line.Request, line.Response, line.Start, line.At, line.Took, line.Open}
	return nil
}

func (r *records) append(lines []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(lines); err != nil && r.err == nil {
		r.err = fmt.Errorf("write a record: %w", err)
	}
	close(r.news)
	r.news = make(chan struct{})
}

func (r *records) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.err
	}
	r.ended = true
	close(r.news)
	if err := r.file.Close(); err != nil && r.err == nil {
		r.err = err
	}
	return r.err
}

// follow writes all records except the first skip to out, line by line, and continues with later
// ones until stop. If stop is nil, it ends with the current records.
func (r *records) follow(out io.Writer, flush func(), skip int, stop <-chan struct{}) error {
	read := map[string]int64{}
	for {
		r.mu.Lock()
		news, ended := r.news, r.ended
		r.mu.Unlock()
		for _, name := range r.files() {
			n, err := copyLines(out, name, read[name], &skip)
			if err != nil {
				return err
			}
			read[name] += n
		}
		flush()
		if stop == nil || ended {
			return nil
		}
		select {
		case <-stop:
			return nil
		case <-news:
		}
	}
}

// files lists the files with records, the oldest first.
func (r *records) files() []string {
	names, _ := filepath.Glob(filepath.Join(r.dir, "*"+recordSuffix)) // the pattern is well-formed
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}

// copyLines copies whole lines from an offset on. An incomplete line is still being written, or its
// proxy was killed meanwhile. It returns how many bytes it has read.
func copyLines(out io.Writer, name string, from int64, skip *int) (n int64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	for in := bufio.NewReader(file); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return n, nil
		}
		n += int64(len(line))
		if *skip > 0 {
			*skip--
			continue
		}
		if _, err := out.Write(line); err != nil {
			return n, err
		}
	}
}
