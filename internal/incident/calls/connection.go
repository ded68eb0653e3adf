package calls

import (
	"slices"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/messages"
)

// The kubelet opens a connection for each call, and closes it after the answer. It prints the
// opening at -v=4. At -v=5 gRPC prints the creation and the end of the connection's channel. These
// are the times of the call.

// Connection adds a line about a connection. It reports whether the connection belongs to a call,
// and returns the complete calls.
func (t *Tracker) Connection(r *lines.Record, f messages.Fact) (done []*Call, isOfCall bool) {
	var c *Call
	switch f.Means {
	case messages.CallDials:
		done = append(t.Settle(r.At), t.goOn(r)...)
		c = t.latest(func(c *Call) bool { return c.isOfKubelet && c.endpoint == "" })
		if c != nil {
			c.endpoint, c.Begin, t.hasDials = f.Fields["endpoint"], r.At, true
		}
	case messages.CallConnects:
		c = t.earliest(func(c *Call) bool { return c.channel == "" && c.endpoint == f.Fields["endpoint"] })
		if c != nil && c.endpoint != "" {
			c.channel, t.hasChannels = f.Fields["channel"], true
		}
	case messages.CallDisconnects:
		c = t.latest(func(c *Call) bool { return c.channel == f.Fields["channel"] && c.gone.IsZero() })
		if c != nil {
			c.gone = r.At
			t.answerUnseen(c)
		}
	}
	if c == nil {
		return done, false
	}
	c.line(r.Number, r.Text)
	return done, true
}

// unseen are calls for which the kubelet prints no success.
var unseen = map[string]bool{"Node/NodeGetInfo": true, "Node/NodeGetCapabilities": true, "Node/NodeGetVolumeStats": true}

// answerUnseen ends a call for which the kubelet prints no success, when the call's connection is
// closed. An error may follow.
func (t *Tracker) answerUnseen(c *Call) {
	if !unseen[c.Method] {
		return
	}
	t.remove(c)
	c.End, c.IsAnswered, c.Answer = c.gone, true, map[string]any{}
	t.closing = append(t.closing, c)
}

// If the log has no channels, goOn ends the calls after which the kubelet continues with its next
// call.
func (t *Tracker) goOn(r *lines.Record) (done []*Call) {
	if t.hasChannels {
		return nil
	}
	isDone := func(c *Call) bool { return c.endpoint != "" && c.Method == "Node/NodeGetCapabilities" }
	for _, c := range t.open {
		if !isDone(c) {
			continue
		}
		c.End, c.IsAnswered, c.Answer = r.At, true, map[string]any{}
		if len(t.open) > 2 { // the call itself, and the call that it prepares
			c.Uncertain = "the kubelet prints no end of it: the next line of the kubelet is taken, which may be of another volume"
		}
		done = append(done, c)
	}
	t.open = slices.DeleteFunc(t.open, isDone)
	return done
}

// isOnlyPlanned reports whether the kubelet did not make the call, because it opened no connection.
func (t *Tracker) isOnlyPlanned(c *Call) bool {
	return c.isOfKubelet && c.endpoint == "" && (c.isPlanned || t.hasDials)
}

// failUnseen adds the error of an operation to the last closed call, if the kubelet prints no
// success of such calls: the operation then failed before its own call.
func (t *Tracker) failUnseen(f messages.Fact) []*Call {
	last := len(t.closing) - 1
	if last < 0 || !unseen[t.closing[last].Method] || f.Fields["code"] == "" {
		return nil
	}
	c := t.closing[last]
	c.failed(f)
	t.closing = t.closing[:last]
	return []*Call{c}
}

// trade assigns the closed channel to an ended call if its own channel is still open. The channels
// of two simultaneous calls were then confused.
func (t *Tracker) trade(c *Call) {
	if c.channel == "" || !c.gone.IsZero() {
		return
	}
	other := t.latest(func(o *Call) bool { return o.method == c.method && !o.gone.IsZero() })
	if other != nil {
		c.channel, other.channel = other.channel, c.channel
		c.gone, other.gone = other.gone, c.gone
	}
}

func (t *Tracker) latest(fits func(*Call) bool) *Call {
	for i := len(t.open) - 1; i >= 0; i-- {
		if fits(t.open[i]) {
			return t.open[i]
		}
	}
	return nil
}

func (t *Tracker) earliest(fits func(*Call) bool) *Call {
	if i := slices.IndexFunc(t.open, fits); i >= 0 {
		return t.open[i]
	}
	return nil
}

func (t *Tracker) remove(c *Call) {
	t.open = slices.DeleteFunc(t.open, func(o *Call) bool { return o == c })
}
