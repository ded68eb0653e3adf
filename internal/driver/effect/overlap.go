package effect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
)

// overlapFields are the fields of faults that make calls overlap.
type overlapFields struct {
	Overlap bool `json:"overlap,omitempty" doc:"The driver receives the call twice at once, as from a restarted caller, and may answer either with ABORTED. The effect must be that of one call. Only calls that change something are affected, and their callers do not notice."`
}

// overlap makes the driver receive the call twice at once, as if its caller had restarted while the
// driver worked. The caller receives the answer to one call, regardless of the outcome of the other
// call.
var overlap = &Effect{
	Name:       fault.Overlap,
	Field:      "overlap",
	Given:      func(f *Fields) bool { return f.Overlap },
	Check:      checkChanges("overlap", func(f *Fields) bool { return f.Overlap }),
	Affects:    fault.HasEffect,
	InSearches: searchedAs(fault.Overlaps, fault.Fault{Name: "comes twice at once", Effect: fault.Overlap}),
	InWords:    words("the same call at the same time"),
	Disturbs:   always,
	Doubles:    true,
	Do:         doOverlap,
}

func doOverlap(c Call, f *fault.Fault) error {
	other, began := c.Again(f, c.Request()), time.Now()
	check := mountsOnce(c)
	both := &doubled{inTurn: c.InProcess()}
	if !both.inTurn {
		c.Process().Kernel().LetClockDecide(fmt.Sprintf("a fault made calls of %s overlap: which one the driver takes first is up to the real clock", c.Method()))
	}
	c.HideRequests()
	c.Wrap(func(client grpc.ClientConnInterface) grpc.ClientConnInterface {
		both.ClientConnInterface = client
		return both
	})
	err := other.WhileCallerLives(func() error { return c.Pass(c.Answer()) })
	if err == ErrDeadline || both.answer == nil {
		other.Fail(err)
		return err // a caller that gives up, or finds no server, has no answer to compare
	}
	other.Answered(both.answer, both.err, began)
	check()
	return err
}

// mountsOnce returns a function that compares the mounts with those at this call, and records
// mounts that two simultaneous calls made twice.
func mountsOnce(c Call) (check func()) {
	if c.Machine() == nil {
		return func() {}
	}
	before := c.Mounts()
	return func() { c.Note(contract.CheckOverlap(c.Method(), before, c.Mounts())) }
}

// doubled is a client that makes each call twice at once. Go code of this process receives the
// calls one after the other, because the overlap of real threads would be random.
type doubled struct {
	grpc.ClientConnInterface
	inTurn bool
	answer proto.Message // answer to the additional call; nil before it
	err    error
}

// Prompt reports whether the calls never block.
func (d *doubled) Prompt() bool { return IsPrompt(d.ClientConnInterface) }

// Invoke makes both calls.
func (d *doubled) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	into := answer.(proto.Message)
	var errs [2]error
	answers := [2]proto.Message{Blank(into), Blank(into)}
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() { errs[i] = d.ClientConnInterface.Invoke(ctx, method, request, answers[i], opts...) })
		if d.inTurn {
			both.Wait()
		}
	}
	both.Wait()
	// The requests are the same, so the assignment of answers to them does not matter, but the
	// order of the answers must be the same in every run.
	first := 0
	if rank(answers[1], errs[1]) < rank(answers[0], errs[0]) {
		first = 1
	}
	proto.Merge(into, answers[first])
	d.answer, d.err = answers[1-first], errs[1-first]
	return errs[first]
}

// rank orders the outcomes of calls: successes come first.
func rank(answer proto.Message, err error) string {
	if err == nil {
		return "answer " + Text(answer)
	}
	return "error " + err.Error()
}
