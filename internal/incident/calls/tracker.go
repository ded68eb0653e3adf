package calls

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/messages"
)

// Tracker follows the calls in the log of one program. The zero value is ready.
type Tracker struct {
	open    []*Call // without an answer, the oldest first
	closing []*Call // answered; a line with the error may follow
	failed  time.Time
	// hasDials means that the log contains the connections of the kubelet's calls, and hasChannels
	// that it contains the channels of these connections.
	hasDials, hasChannels bool
}

// mostOpen bounds the calls without an answer. If there are more, the driver does not print
// answers.
const mostOpen = 2000

// shortened is the length from which programs shorten an answer.
const shortened = 256

// grace bounds the time between the answer of a call and the line with its error.
const grace = 50 * time.Millisecond

// Take adds a line with a part of a call. It returns the calls that are complete.
func (t *Tracker) Take(r *lines.Record, f messages.Fact) (done []*Call) {
	done = t.Settle(r.At)
	switch f.Means {
	case messages.CallBegins:
		done = append(done, t.begin(r, f)...)
	case messages.CallRequest:
		t.request(r, f)
	case messages.CallAnswer:
		done = append(done, t.answer(r, f)...)
	case messages.CallError:
		done = append(done, t.fail(r, f)...)
	case messages.CallWhole:
		done = append(done, t.whole(r, f)...)
	}
	return done
}

// Settle returns the answered calls without an error, because no error followed in time.
func (t *Tracker) Settle(now time.Time) (done []*Call) {
	if len(t.closing) == 0 || now.Sub(t.closing[len(t.closing)-1].End) < grace {
		return nil
	}
	done, t.closing = t.closing, nil
	return done
}

// End returns the calls that the log leaves open.
func (t *Tracker) End() (done []*Call) {
	done = t.closing
	for _, c := range t.open {
		if !c.gone.IsZero() {
			c.End, c.IsAnswered, c.Answer = c.gone, true, map[string]any{}
			c.Uncertain = "its connection was closed, and no line says with which answer"
		}
		if !t.isOnlyPlanned(c) {
			done = append(done, c)
		}
	}
	t.closing, t.open = nil, nil
	return done
}

func (t *Tracker) begin(r *lines.Record, f messages.Fact) (done []*Call) {
	m := methodNamed(f.Fields["method"])
	if f.File == expander {
		m = methodNamed("NodeExpandVolume")
	}
	if m == nil {
		return nil
	}
	c := &Call{Method: m.name, Begin: r.At, method: m, id: f.Fields["id"], context: contextOf(f.Fields)}
	if c.isOfKubelet = strings.HasPrefix(f.File, "csi_") || f.File == expander; c.isOfKubelet {
		done = t.goOn(r)
	}
	c.isPlanned = f.File == expander
	c.line(r.Number, r.Text)
	if text, has := f.Fields["request"]; has {
		c.fill(text)
	} else if f.Fields["volume"] != "" || f.Fields["path"] != "" {
		c.Request = partOf(m, f.Fields)
	}
	if c.isPlanned {
		t.open = slices.DeleteFunc(t.open, func(o *Call) bool { return t.isOnlyPlanned(o) && o.path() == c.path() })
	}
	if len(t.open) >= mostOpen {
		done, t.open = append(done, t.open[0]), t.open[1:]
	}
	t.open = append(t.open, c)
	return done
}

// fill sets the request. Unreadable content is left out, because it may contain secrets.
func (c *Call) fill(text string) {
	if request, err := parseLoosely(text, c.method.request); err == nil {
		c.Request = request
	}
}

// request adds the line with the request to the oldest matching call without a request.
func (t *Tracker) request(r *lines.Record, f messages.Fact) {
	for _, c := range t.candidates(f) {
		if c.Request != nil {
			continue
		}
		if request, err := parse(f.Fields["request"], c.method.request); err == nil {
			c.Request = request
			c.line(r.Number, r.Text)
			return
		}
	}
}

// contextOf returns the pairs that all lines of a call have, from its logger.
func contextOf(f messages.Fields) string {
	var pairs []string
	for _, key := range []string{"attachment", "pvc", "pv", "key", "snapshot", "nodeID", "volume", "TraceId"} {
		if value := f[key]; value != "" {
			pairs = append(pairs, key+"="+value)
		}
	}
	return strings.Join(pairs, " ")
}

// candidates returns the open calls to which a line can belong. They are the calls with the line's
// id, otherwise those of its method, otherwise those with its pairs, otherwise all.
func (t *Tracker) candidates(f messages.Fact) []*Call {
	all := t.open
	if id := f.Fields["id"]; id != "" {
		return slices.DeleteFunc(slices.Clone(all), func(c *Call) bool { return c.id != id })
	}
	if path := f.Fields["path"]; path != "" {
		return slices.DeleteFunc(slices.Clone(all), func(c *Call) bool { return c.path() != path })
	}
	for _, fits := range []func(*Call) bool{
		func(c *Call) bool { return isOf(c, f.Fields["method"]) || isOf(c, rpcIn(f)) },
		func(c *Call) bool { return c.context != "" && c.context == contextOf(f.Fields) },
	} {
		if fitting := slices.DeleteFunc(slices.Clone(all), func(c *Call) bool { return !fits(c) }); len(fitting) > 0 {
			all = fitting
		}
	}
	return all
}

// rpcIn returns the first word of a message that names its RPC, as in
// "NodePublishVolume: volume operation finished".
func rpcIn(f messages.Fact) string {
	rpc, _, _ := strings.Cut(f.Text, ":")
	return rpc
}

func isOf(c *Call, name string) bool {
	m := methodNamed(name)
	return m != nil && m == c.method
}

// answer ends the call to which an answer belongs.
func (t *Tracker) answer(r *lines.Record, f messages.Fact) (done []*Call) {
	text := f.Fields["response"]
	if isEmpty(text) && f.Fields["path"] == "" && r.At.Sub(t.failed) < grace && !t.failed.IsZero() && f.Fields["id"] == "" {
		t.failed = time.Time{}
		return nil // the empty answer of a call that has failed
	}
	c := t.answered(t.candidates(f), text)
	if c == nil {
		return nil
	}
	c.Answer, _ = parseLoosely(text, c.method.answer)
	c.close(r)
	if code, message := f.Fields["code"], f.Fields["error"]; code != "" || message != "" {
		c.end(r, code, message)
		return []*Call{c}
	}
	t.closing = append(t.closing, c)
	return nil
}

// answered removes the call to which an answer belongs from the open ones. It is a call with an
// answer of this type, otherwise one with these fields, otherwise any if the program has shortened
// the text.
func (t *Tracker) answered(from []*Call, text string) *Call {
	whole := func(c *Call) bool {
		_, err := parse(text, c.method.answer)
		return err == nil
	}
	if c := t.pick(from, whole); c != nil {
		return c
	}
	if c := t.pick(from, func(c *Call) bool { return hasFields(text, c.method.answer) }); c != nil || len(text) < shortened {
		return c
	}
	return t.pick(from, func(*Call) bool { return true })
}

// whole adds a line that repeats a call with its method and its answer. The line decides to which
// call the preceding answer belongs.
func (t *Tracker) whole(r *lines.Record, f messages.Fact) (done []*Call) {
	m := methodNamed(methodIn(f.Fields["call"]))
	last := len(t.closing) - 1
	if m == nil || last < 0 {
		return nil
	}
	c := t.closing[last]
	if c.method == m {
		c.Uncertain = ""
		return nil
	}
	right := t.pick(t.open, func(o *Call) bool { return o.method == m })
	if right == nil {
		return nil
	}
	right.Uncertain = ""
	right.End, right.IsAnswered, right.Answer = c.End, true, map[string]any{}
	right.line(r.Number, r.Text)
	c.reopen()
	t.open = append(t.open, c)
	t.closing[last] = right
	return nil
}

// reopen removes an answer from a call, because the answer belongs to another call.
func (c *Call) reopen() {
	c.End, c.IsAnswered, c.Answer, c.Uncertain = time.Time{}, false, nil, ""
	last := len(c.Lines) - 1
	c.Lines, c.Texts = c.Lines[:last], c.Texts[:last]
}

// pick removes the latest matching call from the open ones, because earlier ones may hang. The
// match is uncertain if other calls match as well.
func (t *Tracker) pick(from []*Call, fits func(*Call) bool) *Call {
	fitting := slices.DeleteFunc(slices.Clone(from), func(c *Call) bool { return !fits(c) })
	if len(fitting) == 0 {
		return nil
	}
	c := fitting[len(fitting)-1]
	if len(fitting) > 1 {
		c.Uncertain = fmt.Sprintf("the line of the answer fits %d calls under way, and the latest is taken", len(fitting))
	}
	t.remove(c)
	t.trade(c)
	return c
}

func (c *Call) close(r *lines.Record) {
	c.End, c.IsAnswered = r.At, true
	if !c.gone.IsZero() {
		c.End = c.gone
	}
	if c.Lines[len(c.Lines)-1] != r.Number {
		c.line(r.Number, r.Text)
	}
}

// fail adds the error to a call: to the call that was just answered, or to an open call.
func (t *Tracker) fail(r *lines.Record, f messages.Fact) []*Call {
	message, code := f.Fields["error"], f.Fields["code"]
	if len(t.closing) > 0 && f.Fields["id"] == "" {
		c := t.closing[0]
		t.closing = t.closing[1:]
		c.end(r, code, message)
		return []*Call{c}
	}
	if message == "" { // GRPC error: <nil>
		return nil
	}
	c := t.pick(t.candidates(f), func(*Call) bool { return true })
	if c == nil {
		return nil
	}
	c.end(r, code, message)
	t.failed = r.At
	return []*Call{c}
}

func (c *Call) end(r *lines.Record, code, message string) {
	c.close(r)
	if message == "" && code == "" {
		return
	}
	c.Answer, c.Code, c.Error = nil, code, message
	if code == "" {
		c.Code = "Unknown"
	}
}
