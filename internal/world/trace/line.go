package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
)

// Line is an event in the format of recorded traces: one JSON object per line.
type Line struct {
	T     int64  `json:"t"` // ms of virtual time since the run began
	K     Kind   `json:"k"`
	Seq   uint64 `json:"seq,omitempty"`
	Cause uint64 `json:"cause,omitempty"`
	Ev    string `json:"ev,omitempty"`
	// Cluster is empty in a run of one cluster.
	Cluster string         `json:"cluster,omitempty"`
	Node    string         `json:"node,omitempty"`
	From    string         `json:"from,omitempty"`
	Driver  string         `json:"driver,omitempty"`
	M       string         `json:"m,omitempty"`
	Msg     string         `json:"msg,omitempty"`
	R       string         `json:"r,omitempty"`
	Name    string         `json:"name,omitempty"`
	Obj     any            `json:"obj,omitempty"`
	Patch   map[string]any `json:"patch,omitempty"`
	Req     map[string]any `json:"req,omitempty"`
	Resp    map[string]any `json:"resp,omitempty"`
	Code    string         `json:"code,omitempty"`
	Ms      int64          `json:"ms,omitempty"`
	Inj     string         `json:"inj,omitempty"`
	// Release is the release of the driver that received a call, if it has several.
	Release string `json:"release,omitempty"`
	// Real is the real time of an event from imported logs. Src lists its places in the logs, each
	// as "file:line".
	Real string `json:"at,omitempty"`
	Src  string `json:"src,omitempty"`
}

// MarshalJSON writes the empty request and answer of a call as {}, like the recorded traces.
func (l Line) MarshalJSON() ([]byte, error) { return l.Text() }

// Text returns the same text as [json.Marshal]. It avoids the second parse that json.Marshal does
// as a check.
func (l *Line) Text() ([]byte, error) {
	type plain Line
	if l.K != Call {
		return json.Marshal((*plain)(l))
	}
	return json.Marshal(struct {
		plain
		Req  any `json:"req,omitempty"`
		Resp any `json:"resp,omitempty"`
	}{plain(*l), orNil(l.Req), orNil(l.Resp)})
}

func orNil(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

var unindented = protojson.MarshalOptions{UseProtoNames: true}

// Line renders the event, pruned like the recorded traces and with secrets redacted.
func (e *Event) Line() (Line, error) { return new(Lines).Of(e) }

// shownDetail returns the part of an event's detail that lines contain.
func (e *Event) shownDetail() any {
	if _, inWords := e.Detail.(Transition); inWords {
		return nil
	}
	return e.Detail
}

// line renders the event with the objects in the form of versions.
func (e *Event) line(versions *Lines) (Line, error) {
	l := Line{
		T: e.At.Milliseconds(), K: e.Kind, Seq: e.Seq, Cause: e.Cause, Ev: e.Change, Cluster: e.Cluster, Node: e.Node,
		From: e.Actor, Driver: e.Driver, M: e.Method, Msg: e.Message, R: e.Resource, Name: e.Name,
		Obj: e.shownDetail(), Code: e.Code, Ms: e.Took.Milliseconds(), Inj: e.Injected, Release: e.Release,
	}
	if e.Kind.IsState() {
		l.Seq = 0
	}
	var err error
	if l.Req, err = Fields(e.Request); err != nil {
		return l, fmt.Errorf("render request of %s: %w", e.Method, err)
	}
	if l.Resp, err = Fields(e.Response); err != nil {
		return l, fmt.Errorf("render answer of %s: %w", e.Method, err)
	}
	l.Req, l.Resp = shortenFields(l.Req), shortenFields(l.Resp)
	switch {
	case e.Kind == API:
		err = l.change(e, versions)
	case e.Kind == KubeEvent:
		l.Obj = map[string]any{"count": e.Count()}
	}
	if err != nil {
		return l, fmt.Errorf("render change of %s %s: %w", e.Resource, e.Name, err)
	}
	return l, nil
}

func (l *Line) change(e *Event, versions *Lines) error {
	switch e.Change {
	case "MODIFIED":
		before, err := versions.pruned(e, e.Old)
		if err != nil {
			return err
		}
		after, err := versions.pruned(e, e.New)
		if err != nil {
			return err
		}
		l.Patch = MergePatch(before, after)
	case "DELETED":
		versions.forget(e)
	default:
		after, err := versions.pruned(e, e.New)
		if err != nil {
			return err
		}
		l.Obj = after
	}
	return nil
}

// Writer returns a sink that writes JSON Lines, and a function that returns its first error.
func Writer(w io.Writer) (Sink, func() error) {
	var failed error
	var lines Lines
	buffered := bufio.NewWriter(w)
	sink := func(e *Event) {
		if failed != nil {
			return
		}
		line, err := lines.Of(e)
		if err == nil {
			var text []byte
			if text, err = line.Text(); err == nil {
				_, err = buffered.Write(append(text, '\n'))
			}
		}
		failed = err
	}
	return sink, func() error {
		if failed == nil {
			failed = buffered.Flush()
		}
		return failed
	}
}

// Read parses a trace in JSON Lines.
func Read(r io.Reader) ([]Line, error) {
	var lines []Line
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 64<<20)
	for n := 1; scanner.Scan(); n++ {
		if len(scanner.Bytes()) == 0 {
			continue
		}
		var l Line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("trace line %d: %w", n, err)
		}
		lines = append(lines, l)
	}
	return lines, scanner.Err()
}

// At returns the virtual time of the line since the run began.
func (l Line) At() time.Duration { return time.Duration(l.T) * time.Millisecond }

// event converts the line to an event, without its messages and objects.
func (l Line) event() *Event {
	var detail any = l.Obj
	if l.K == KubeEvent {
		detail = l.count()
	}
	return Entry{
		Seq: l.Seq, Cause: l.Cause, At: l.At(), Cluster: l.Cluster, Kind: l.K, Actor: l.From, Node: l.Node, Driver: l.Driver, Method: l.M, Resource: l.R,
		Name: l.Name, Message: l.Msg, Code: l.Code, Took: time.Duration(l.Ms) * time.Millisecond, Injected: l.Inj, Release: l.Release, Change: l.Ev, Detail: detail,
	}.Event()
}

// count returns how often a Kubernetes event was emitted.
func (l Line) count() int32 {
	fields, _ := l.Obj.(map[string]any)
	if count, ok := fields["count"].(int32); ok {
		return count
	}
	count, _ := fields["count"].(float64) // a number after parsing
	return int32(count)
}
