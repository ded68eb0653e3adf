package wire

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// A call offers to the effects of faults the means to disturb it.
var _ effect.Call = &call{}

// Paths returns the paths of the request, in the view of programs on the machine.
func (c *call) Paths() []string { return contract.PathsOf(c.onMachine(c.request)) }

// Program returns the called program; nil if it is not one of the run's programs.
func (c *call) Program() *machine.Process {
	if c.wire.ProgramAt == nil {
		return nil
	}
	return c.wire.ProgramAt(c.site)
}

// Wrap wraps the client that reaches the driver.
func (c *call) Wrap(around func(grpc.ClientConnInterface) grpc.ClientConnInterface) {
	c.around = append(c.around, around)
}

// Struck records the effect of a fault on the call.
func (c *call) Struck(f *fault.Fault) {
	c.event.Injected, c.event.Effect = effect.InWords(f), trace.Effect(f.Effect)
}

// Disturbed records that a fault disturbed the driver, but that the driver itself answered.
func (c *call) Disturbed(f *fault.Fault) {
	c.ownAnswer = true
	c.Struck(f)
}

// Again begins an additional call of the same method, as a separate event.
func (c *call) Again(f *fault.Fault, request proto.Message) effect.Further {
	return c.Other(f, c.fullMethod, request, effect.Blank(c.answer))
}

// Other begins an additional call of another method, as a separate event.
func (c *call) Other(f *fault.Fault, fullMethod string, request, answer proto.Message) effect.Further {
	entry := Entry(c.site, fullMethod, request)
	entry.Injected, entry.Effect = effect.InWords(f), trace.Effect(f.Effect)
	return &call{
		conn: c.conn, fullMethod: fullMethod, method: entry.Method, request: request, answer: answer,
		event: c.wire.World.Trace.Begin(entry), fault: f, aside: true,
	}
}

// Make passes an additional call to the driver, and records its outcome.
func (c *call) Make() error {
	err := c.WhileCallerLives(func() error { return c.Pass(c.answer) })
	c.end(err)
	return err
}

// Unanswered reports whether an outcome is not an answer of the driver.
func (c *call) Unanswered(err error) bool { return err == effect.ErrDeadline || NobodyListens(err) }

// Fail records the error of a call that was not made.
func (c *call) Fail(err error) { c.end(err) }

// Answered records the outcome of another call as the outcome of this one. That call began at a
// time of the real clock.
func (c *call) Answered(answer proto.Message, err error, began time.Time) {
	c.answer = answer
	c.end(c.receive(answer, err, began))
	c.recordLost()
}

// Kill kills the victim of a fault, and restarts it if the fault requires it.
func (c *call) Kill(f *fault.Fault) { c.wire.KillAndRestart(f, c.site, c.method) }

// Act makes a user, an administrator or the node act.
func (c *call) Act(action fault.Action) { c.wire.Act(action, c.faultSite()) }

// WatchRequests watches and disturbs the HTTP requests of the called program.
func (c *call) WatchRequests(w *standin.Watch) { c.requests = w }

// HideRequests leaves all of them out of the trace.
func (c *call) HideRequests() { c.requestsHidden = true }

// StandsStill records that the driver is stopped in the call, until the returned function is
// called.
func (c *call) StandsStill() (goesOn func()) {
	c.stalls = true
	c.wire.stalled[c.site.Driver]++
	return func() { c.wire.stalled[c.site.Driver]-- }
}

// waitsForStalled reports whether the driver is stopped in another call.
func (c *call) waitsForStalled() bool { return !c.stalls && c.wire.stalled[c.site.Driver] > 0 }

// WindsUp records that the program may be busy with the volume for a while.
func (c *call) WindsUp() { c.wire.windingUp.begin(c) }
