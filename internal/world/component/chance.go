package component

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Outcome is the result of a write to the API.
type Outcome string

// The outcomes.
const (
	Served Outcome = "" // the write succeeds
	// The write conflicts with an earlier one; nothing is written.
	Conflicts Outcome = "conflict"
	Refused   Outcome = "API server away" // nothing is written
	// The write takes effect, but the writer gets an error.
	Unanswered Outcome = "API answer lost"
	DiesFirst  Outcome = "writer killed before it"      // nothing is written
	DiesAfter  Outcome = "writer killed right after it" // it is written
)

// Chance lets the strategy of a run choose the outcomes of writes to the API.
type Chance interface {
	// AtWrite returns the outcome of a write.
	AtWrite(Write) Outcome
	// Kill ends the program of a component like SIGKILL, and schedules its restart.
	Kill(*Component)
}

// Write is a component's request that changes an object.
type Write struct {
	Component *Component
	Verb      string
	Kind      schema.GroupResource
	Key       store.Key
}

// String identifies the write among the run's writes, without counting repetitions.
func (w Write) String() string {
	return w.Verb + " of " + w.Kind.Resource + " " + w.Key.String() + " by " + w.Component.Group.Name
}

// CanConflict reports whether the API server compares resource versions.
func (w Write) CanConflict() bool { return w.Verb == "update" || w.Verb == "update status" }

var (
	errOverwritten = errors.New("the object has been modified; please apply your changes to the latest version and try again")
	errAway        = apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	errUnanswered  = apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
)

// write makes a write with the outcome that the run's strategy chooses.
func write[T any](p *kernel.Process, w Write, do func() (T, error)) (T, error) {
	c := w.Component
	outcome := c.Chance.AtWrite(w)
	if outcome == Served {
		return do()
	}
	c.Trace.Add(trace.Entry{Kind: trace.FaultFired, Node: c.Node, Message: fmt.Sprintf("%v: %s", w, outcome)})
	var none T
	switch outcome {
	case Conflicts:
		return none, apierrors.NewConflict(w.Kind, w.Key.Name, errOverwritten)
	case Refused:
		return none, errAway
	case DiesFirst:
		c.die(p)
		return none, errAway
	}
	_, err := do()
	if outcome == DiesAfter {
		c.die(p)
	}
	if err == nil {
		err = errUnanswered
	}
	return none, err
}

// die kills the component, and waits for its end.
func (c *Component) die(p *kernel.Process) {
	c.Kernel.Spawn(nil, "death of "+c.Group.Name, func(*kernel.Process) { c.Chance.Kill(c) })
	p.Wait("its death", func() bool { return false })
}

// Keeps reports whether p is this component's own pace, rather than one shared with other programs.
func (c *Component) Keeps(p *Pace) bool { return c.pace == p }
