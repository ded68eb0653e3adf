package realcluster

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/trace"
)

// callLog copies the records of the proxies into the trace.
type callLog struct {
	*Cluster
	open map[recordKey]*trace.Event
	seen map[recordKey]bool // complete records
	from map[place]bool     // proxies with records that are being read

	mu   sync.Mutex
	read map[place]int // lines of each proxy that have arrived
}

// recordKey identifies a record among the records of all proxies.
type recordKey struct {
	start  int64
	seq    uint64
	driver string
	node   string
}

func newCallLog(c *Cluster) *callLog {
	return &callLog{Cluster: c, open: map[recordKey]*trace.Event{}, seen: map[recordKey]bool{}, from: map[place]bool{}, read: map[place]int{}}
}

// ask sends a request to a proxy.
func (c *Cluster) ask(ctx context.Context, at place, verb, path string, params map[string]string, body any) ([]byte, error) {
	request := c.request(at, verb, path, params)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		request = request.Body(bytes.NewReader(text))
	}
	text, err := request.DoRaw(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text)))
	}
	return text, err
}

func (c *Cluster) request(at place, verb, path string, params map[string]string) *rest.Request {
	request := c.clients.CoreV1().RESTClient().Verb(verb).AbsPath(at.path(path)).SetHeader(proxy.TokenHeader, c.options.Deploy.Proxy)
	for name, value := range params {
		request = request.Param(name, value)
	}
	return request
}

// readNew starts to read the records of new proxies.
func (l *callLog) readNew() error {
	all, err := l.proxies(l.ctx, "", "", "")
	if err != nil {
		return err
	}
	for _, at := range all {
		if !l.from[at] {
			l.from[at] = true
			go l.follow(at)
		}
	}
	return nil
}

// reads reports whether the records of a node plugin are being read.
func (l *callLog) reads(driver, node string) bool {
	for at := range l.from {
		if at.driver == driver && at.part == "node" && at.node == node {
			return true
		}
	}
	return false
}

// follow reads the records of a proxy when they arrive. When the stream ends it reads from the
// start again, and drops records that it already has.
func (l *callLog) follow(at place) {
	const pause = 100 * time.Millisecond
	skip := 0
	for l.ctx.Err() == nil {
		stream, err := l.request(at, "GET", "/records", map[string]string{"follow": "true", "skip": strconv.Itoa(skip)}).Stream(l.ctx)
		if err == nil {
			in := bufio.NewReaderSize(stream, 1<<16)
			for {
				line, err := in.ReadBytes('\n')
				if err != nil {
					break
				}
				skip++
				l.arrived(line, at)
				l.count(at, skip)
			}
			_ = stream.Close()
		}
		select {
		case <-l.ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *callLog) count(at place, lines int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read[at] = lines
}

func (l *callLog) counted(at place) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read[at]
}

// catchUp waits until the trace contains everything that the proxies have recorded so far.
func (l *callLog) catchUp() error {
	for _, at := range slices.SortedFunc(maps.Keys(l.from), place.compare) {
		text, err := l.ask(l.ctx, at, "GET", "/records", nil, nil)
		if err != nil {
			return environment(err, "read the records of %s", at)
		}
		there := bytes.Count(text, []byte("\n"))
		if err := l.WaitFor("the records of "+at.String(), catchUpTime, func() bool { return l.counted(at) >= there }); err != nil {
			return err
		}
	}
	return l.Advance(2 * late)
}

// catchUpTime is the longest delay of records.
const catchUpTime = 10 * time.Second

func (l *callLog) arrived(line []byte, from place) {
	var r proxy.Record
	line = []byte(l.options.Deploy.Scope.Plain(string(line)))
	if json.Unmarshal(line, &r) != nil {
		return
	}
	at := time.Unix(0, r.At)
	if !r.Open {
		at = at.Add(time.Duration(r.Took))
	}
	if at.Before(l.clock.began) {
		return // a record of an earlier run, because the directory outlives runs
	}
	if r.Node != "" && !slices.Contains(l.options.Nodes, r.Node) {
		return // a driver's own manifests may deploy it on nodes outside the scenario
	}
	l.queue.put(at, func() { l.take(r, from) })
}

// take records the start or end of a call, or a finding of a proxy.
func (l *callLog) take(r proxy.Record, from place) {
	key := recordKey{r.Start, r.Seq, r.Driver, r.Node}
	if l.seen[key] {
		return
	}
	l.seen[key] = !r.Open
	if r.K == proxy.Order {
		l.after(func() { l.carryOut(r, from) })
		return
	}
	if r.K != trace.Call {
		l.found(r)
		return
	}
	event := l.open[key]
	if event == nil {
		l.clock.at(time.Unix(0, r.At), func() {
			event = l.world.Trace.Begin(trace.Entry{
				Kind: trace.Call, Actor: r.From, Node: r.Node, Driver: r.Driver, Method: r.M, Request: l.message(r.M, r.Request, false), Injected: r.Inj,
			})
		})
		l.open[key] = event
	}
	if r.Open {
		return
	}
	delete(l.open, key)
	event.Code, event.Message, event.Injected = r.Code, r.Msg, r.Inj
	if r.Code == "" {
		event.Response = l.message(r.M, r.Response, true)
	}
	l.clock.at(time.Unix(0, r.At+r.Took), func() { l.world.Trace.End(event) })
	if ledger.Changes(event) {
		l.data.check.Ended(event)
	}
}

// cutOff ends the calls in progress on a node that has lost its power, because their proxy can no
// longer report the answer.
func (l *callLog) cutOff(node string) {
	under := slices.SortedFunc(maps.Keys(l.open), func(a, b recordKey) int { return cmp.Compare(l.open[a].Seq, l.open[b].Seq) })
	for _, key := range under {
		if key.node != node {
			continue
		}
		event := l.open[key]
		delete(l.open, key)
		l.seen[key] = true
		event.Code, event.Message = codes.Canceled.String(), "the caller has exited"
		l.world.Trace.End(event)
	}
}

// found records anything but a call.
func (l *callLog) found(r proxy.Record) {
	entry := trace.Entry{
		Kind: r.K, Actor: r.From, Node: r.Node, Driver: r.Driver, Method: r.M, Message: r.Msg,
		Request: l.message(r.M, r.Request, false), Response: l.message(r.M, r.Response, true),
	}
	if v, judged := verdict.OfEvent(r.Obj, r.Msg); judged {
		entry.Detail = v
		if r.K == trace.Violation {
			l.violate = append(l.violate, v)
		}
	}
	l.world.Trace.Add(entry)
}

// message returns a recorded request or answer with the names of the scenario; nil if there is
// none.
func (l *callLog) message(method string, content []byte, answer bool) proto.Message {
	if content == nil {
		return nil
	}
	m, response, err := proxy.Messages("/csi.v1." + method)
	if err != nil {
		return nil
	}
	if answer {
		m = response
	}
	if err := proto.Unmarshal(content, m); err != nil {
		return nil
	}
	return l.plain(m)
}

// plain removes the scope from all texts of a message.
func (l *callLog) plain(m proto.Message) proto.Message {
	if l.options.Deploy.Scope == "" {
		return m
	}
	text, err := protojson.Marshal(m)
	if err != nil {
		return m
	}
	named := m.ProtoReflect().New().Interface()
	if protojson.Unmarshal([]byte(l.options.Deploy.Scope.Plain(string(text))), named) != nil {
		return m
	}
	return named
}
