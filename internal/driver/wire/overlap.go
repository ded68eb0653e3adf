package wire

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

// sendOverlapping gives the call to the driver twice at once, as a caller does that lost its
// memory while the driver worked. The caller gets the answer of the one, whatever the other
// came to.
func (c *call) sendOverlapping(f *fault.Fault) error {
	other, began := c.again(f, c.request), time.Now()
	c.overlap = &overlap{inTurn: InProcess(c.site.Machine)}
	if !c.overlap.inTurn {
		c.wire.World.Kernel.LetClockDecide(fmt.Sprintf("a fault made calls of %s overlap: which one the driver takes first is up to the real clock", c.method))
	}
	err := other.whileCallerLives(func() error { return c.pass(c.process, c.answer) })
	if err == errDeadline || c.overlap.answer == nil {
		other.end(err)
		return err // a caller that gives up, or finds no server, has nothing to compare
	}
	other.answer = c.overlap.answer
	other.end(other.receive(other.answer, c.overlap.err, began))
	other.recordLost()
	if c.site.Machine != nil {
		c.wire.note(c, contract.CheckOverlap(c.method, c.mountsOfRequest()))
	}
	return err
}

// overlap is a client that makes each call twice at once. Go code of this process gets
// one call after the other: it must not overlap by the chance of real threads.
type overlap struct {
	grpc.ClientConnInterface
	inTurn bool
	answer proto.Message // of the call that the caller knows nothing of; nil before
	err    error
}

// Prompt reports whether the calls never block.
func (o *overlap) Prompt() bool { return isPrompt(o.ClientConnInterface) }

// Invoke makes both calls.
func (o *overlap) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	into := answer.(proto.Message)
	var errs [2]error
	answers := [2]proto.Message{blank(into), blank(into)}
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() { errs[i] = o.ClientConnInterface.Invoke(ctx, method, request, answers[i], opts...) })
		if o.inTurn {
			both.Wait()
		}
	}
	both.Wait()
	// The requests are the same, so which of them got which answer is no matter; that the
	// answers have the same order in every run is.
	first := 0
	if rank(answers[1], errs[1]) < rank(answers[0], errs[0]) {
		first = 1
	}
	proto.Merge(into, answers[first])
	o.answer, o.err = answers[1-first], errs[1-first]
	return errs[first]
}

// rank orders the outcomes of calls: successes come first.
func rank(answer proto.Message, err error) string {
	if err == nil {
		return "answer " + inWords(answer, nil)
	}
	return "error " + err.Error()
}

func blank(m proto.Message) proto.Message { return m.ProtoReflect().New().Interface() }
