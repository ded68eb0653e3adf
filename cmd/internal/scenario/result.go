package scenario

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// Exit is the way in which a run ended.
type Exit string

const (
	// Passed: everything was as expected.
	Passed Exit = "passed"
	// Failed: an expectation did not hold.
	Failed Exit = "failed"
	// BadInput: the scenario has a mistake.
	BadInput Exit = "bad input"
	// Environment: this machine cannot run it, or a driver program does not start.
	Environment Exit = "environment"
)

// Code returns the exit code of a command that runs a scenario.
func (e Exit) Code() int {
	return map[Exit]int{Passed: 0, Failed: 1, BadInput: 2, Environment: 3}[e]
}

// Result is the result of a run.
type Result struct {
	Scenario    *Scenario
	Exit        Exit
	Steps       []StepResult
	Failures    []Failure
	Trace       []*trace.Event
	States      []*trace.Event // between the events, with KeepStates
	VirtualTime time.Duration
	WallTime    time.Duration
	// Notes lists, one per line, observations that are not failures, and places that could not be
	// checked.
	Notes []string
	// Litter lists the leftovers that real Kubernetes also leaves behind, one per line.
	Litter []string
	// Written lists the files that programs wrote, or tried to write, outside the run. These writes
	// were discarded.
	Written []string
	// Waits are the run's waits for the work of drivers, in wall time.
	Waits []sim.Wait
	// Overdue lists the calls to drivers that exceeded the patience. The run continued without
	// their answers.
	Overdue []string
	// Usage lists the resources that the programs of drivers used and left.
	Usage []sim.Usage
	// Listed are the ids of the volumes and snapshots that drivers had at the beginning and at the
	// end, including those that the run did not create.
	Listed []string
	// Calls is the number of CSI calls.
	Calls int
	// Apart describes how the nodes are isolated and the resulting restrictions; "" if they are not
	// isolated.
	Apart string
	// Sometimes holds, for each statement in the scenario's sometimes, whether it was true at some
	// instant.
	Sometimes []bool
	// Difference is the first difference of a second run, with RunOptions.CheckDeterminism: an
	// action of csisim, or an answer of a driver.
	Difference error
	// Names are readable names of volumes, nodes and pods, for rendering calls.
	Names *calls.Names
}

// OverdueInTotal returns the end of a command's last line: the number of calls that exceeded the
// patience. It returns "" for none.
func OverdueInTotal(calls int) string {
	if calls == 0 {
		return ""
	}
	return fmt.Sprintf(" · the patience ran out for %s: results may depend on the load of this machine", plural.Of(calls, "call"))
}

// OverdueInWords names the calls that exceeded the patience; "" if there are none.
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

// State is the progress of a step.
type State string

const (
	// Running is a step that has begun.
	Running State = "running"
	// StepPassed is a step that ended without a failure.
	StepPassed State = "passed"
	// StepFailed is the step that ended the scenario.
	StepFailed State = "failed"
	// Skipped is a step that never began.
	Skipped State = "skipped"
)

// StepResult is the result of a step.
type StepResult struct {
	Number      int // from 1
	Name, Kind  string
	Title       string // one line
	Line        int
	State       State
	Began, Took time.Duration // virtual time since the run began; virtual duration
	Wall        time.Duration
	// Output holds the step's messages, such as "pod/web created".
	Output []string
}

// Failure is an expectation that does not hold.
type Failure = expect.Failure

// CallSequence lists the CSI calls of a trace, one per line. Equal runs have equal lists.
func CallSequence(events []*trace.Event) string { return calls.Sequence(events) }
