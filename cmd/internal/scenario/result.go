package scenario

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// Exit is how a run ended.
type Exit string

const (
	// Passed: everything was as expected.
	Passed Exit = "passed"
	// Failed: something was not.
	Failed Exit = "failed"
	// BadInput: the scenario cannot be run as it is.
	BadInput Exit = "bad input"
	// Environment: this machine cannot run it, or a driver program does not start.
	Environment Exit = "environment"
)

// Code is the exit code of a command that runs a scenario.
func (e Exit) Code() int {
	return map[Exit]int{Passed: 0, Failed: 1, BadInput: 2, Environment: 3}[e]
}

// Result is what came of a run.
type Result struct {
	Scenario    *Scenario
	Exit        Exit
	Steps       []StepResult
	Failures    []Failure
	Trace       []*trace.Event
	States      []*trace.Event // between them, with KeepStates
	VirtualTime time.Duration
	WallTime    time.Duration
	// Notes are what the run left behind that is nobody's fault, and what could not be
	// looked at: a line each.
	Notes []string
	// Written is what programs have written outside the run, or would have: it was thrown away.
	Written []string
	// Waits are the waits of the run for work of drivers, in wall time.
	Waits []sim.Wait
	// Overdue are the calls to drivers for which the patience ran out: the run went on without
	// their answers.
	Overdue []string
	// Usage is what the programs of drivers took and left.
	Usage []sim.Usage
	// Listed are the volumes and snapshots that drivers had at the beginning and at the end,
	// by their ids, whoever made them.
	Listed []string
	// Calls is the number of CSI calls.
	Calls int
	// Apart says what keeps the nodes apart and what that rules out; empty if nothing.
	Apart string
	// Sometimes says of each statement of the scenario's sometimes whether it was true at some instant.
	Sometimes []bool
	// Parted is where a second run was not like this one, with RunOptions.CheckDeterminism: in what csisim did, or in what a
	// driver answered.
	Parted error
	// Names are readable names of volumes, nodes and pods, for rendering calls.
	Names *calls.Names
}

// OverdueInWords names the calls for which the patience ran out; empty if it never did.
func OverdueInWords(overdue []string) string {
	if len(overdue) == 0 {
		return ""
	}
	text := "the patience ran out for " + overdue[0]
	if more := len(overdue) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": the run went on without the answer, which this may depend on; --patience gives the driver longer"
}

// State is how far a step has come.
type State string

const (
	// Running is a step that has begun.
	Running State = "running"
	// StepPassed is a step that ended well.
	StepPassed State = "passed"
	// StepFailed is the step that ended the scenario.
	StepFailed State = "failed"
	// Skipped is a step that never began.
	Skipped State = "skipped"
)

// StepResult is what came of a step.
type StepResult struct {
	Number      int // from 1
	Name, Kind  string
	Title       string // one line
	Line        int
	State       State
	Began, Took time.Duration // virtual time since the run began; virtual duration
	Wall        time.Duration
	// Output is what the step has to say, such as "pod/web created".
	Output []string
}

// Failure is one thing that was not as expected.
type Failure = expect.Failure

// CallSequence lists the CSI calls of a trace, one a line, in a form that is the same for equal runs.
func CallSequence(events []*trace.Event) string { return calls.Sequence(events) }
