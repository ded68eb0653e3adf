package effect

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/outcome"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// Call is a call between its caller and a driver. Package wire implements it.
type Call interface {
	// Method returns a name such as "Node/NodeStageVolume".
	Method() string
	Request() proto.Message
	// Answer returns the message that its caller receives.
	Answer() proto.Message
	// Process is its caller.
	Process() *kernel.Process
	// Deadline returns the virtual time, since the start of the run, at which its caller gives up.
	Deadline() time.Duration
	Machine() machine.Machine
	// InProcess reports whether the driver is Go code of this process.
	InProcess() bool
	// Paths returns the paths of the request, as seen by programs on the machine.
	Paths() []string

	Carrier
	Programs
	Judge
}

// Carrier gives calls to the driver.
type Carrier interface {
	// Pass passes the call to the driver unless its caller has given up.
	Pass(into proto.Message) error
	// PassShown passes the call, and records the driver's system calls if the run records them.
	PassShown() error
	// Deliver passes the call to the driver, whatever its caller has done meanwhile.
	Deliver(p *kernel.Process, into proto.Message) error
	// TakeTime makes the call in a separate process, which continues even if its caller has given
	// up.
	TakeTime(send func(p *kernel.Process, into proto.Message) error) error
	// Wrap wraps the client that reaches the driver; the last wrapper is the outermost.
	Wrap(around func(grpc.ClientConnInterface) grpc.ClientConnInterface)
	// Struck records that the fault had its effect.
	Struck(*fault.Fault)
	// Disturbed records that the fault disturbed the driver, but that the answer is the driver's
	// own.
	Disturbed(*fault.Fault)
	// Again begins an additional call of the same method with this request, without any caller.
	Again(*fault.Fault, proto.Message) Further
	// Other begins an additional call of another method, without any caller.
	Other(f *fault.Fault, fullMethod string, request, answer proto.Message) Further
	// Kill kills the victim of the fault, and restarts it if the fault requires it.
	Kill(*fault.Fault)
	// Act makes a user, an administrator or the node act.
	Act(fault.Action)
}

// Further is an additional call beside the caller's call.
type Further interface {
	Answer() proto.Message
	// Make passes the additional call to the driver and records its outcome.
	Make() error
	// Unanswered reports whether an outcome is not an answer of the driver, because the caller gave
	// up or found no server.
	Unanswered(error) bool
	// WhileCallerLives makes another call, and ends this one if the caller is killed meanwhile.
	WhileCallerLives(make func() error) error
	// Fail records the error of a call that was not made.
	Fail(error)
	// Answered records the outcome of another call as the outcome of this one.
	Answered(answer proto.Message, err error, began time.Time)
	// Outcome returns the visible outcome of the call with that error.
	Outcome(error) contract.Outcome
}

// Programs are the ways to disturb the called program, if the run has started it.
type Programs interface {
	// Program returns the called program; nil if the run has not started it.
	Program() *machine.Process
	// WatchCalls watches and disturbs the system calls of the program during the call. It is nil if
	// the run has not started the program. If the system does not permit the watching of system
	// calls, the run ends.
	WatchCalls(purpose string, i machine.Interference) *machine.CallWatch
	// RecordCalls records the observed system calls, and returns the number of failed ones.
	RecordCalls(w *machine.CallWatch, injected string) (failed int)
	// Service gives access to the stand-in for the program's service; nil without one.
	Service() *standin.Access
	// WatchRequests watches and disturbs the HTTP requests of the program during the call.
	WatchRequests(*standin.Watch)
	// HideRequests leaves the requests out of the trace. For simultaneous calls, the real clock
	// decides which request comes first.
	HideRequests()
	// StandsStill records that the driver is stopped in the call, until the returned function is
	// called.
	StandsStill() (goesOn func())
	// WindsUp records that the program may still use the volume for a while after the call has
	// ended.
	WindsUp()
}

// Judge compares the driver's answers with the CSI spec.
type Judge interface {
	// Outcome returns the visible outcome of the call so far.
	Outcome(error) contract.Outcome
	// Creations counts the driver's CreateVolume calls.
	Creations() outcome.Creations
	// OtherNode returns the id of another node of the driver; empty if there is none.
	OtherNode(id string) string
	// Attaches reports whether the driver's controller plugin declares that it attaches volumes.
	Attaches() bool
	// AttachesReadOnly reports whether the driver declares that it also attaches volumes read-only.
	AttachesReadOnly() bool
	// AwaitSettled repeats a call about a volume until its answer is settled, or until its time
	// limit.
	AwaitSettled(volume string, call func() error, settled func(error) bool) error
	// OtherVolume returns the id of another volume of the driver; empty if there is none.
	OtherVolume(id string) string
	// Mounts lists the mounts at, and below, the request's paths.
	Mounts() []string
	// CheckLists compares the driver's lists with each other.
	CheckLists() []verdict.Verdict
	// Note records breaches of the CSI spec.
	Note([]verdict.Verdict)
	// Seen returns the breaches. If there are none, it records that a rule was kept.
	Seen(breaches []verdict.Verdict, rule string) []verdict.Verdict
}

// lateness is the time between a caller's deadline and the arrival of a late answer.
const lateness = time.Second

var (
	// ErrDeadline is the error that a caller receives after it gave up.
	ErrDeadline = status.Error(codes.DeadlineExceeded, "context deadline exceeded")
	// ErrCallerExited is the error of a call after the exit of its caller.
	ErrCallerExited = status.Error(codes.Canceled, "the caller has exited")
	// ErrConnectionLost is the error that a caller receives if the driver exits during its call.
	ErrConnectionLost = status.Error(codes.Unavailable, "error reading from server: EOF")
	// ErrUnseen is the reason why a fault cannot interfere with a program's changes to files.
	ErrUnseen = errors.New("this system does not show csisim which system calls programs make: that takes Linux 5.19, amd64 or arm64, and CAP_SYS_ADMIN")
)

// Text returns an answer as text. Equal answers have equal texts: package protojson varies its
// spaces on purpose.
func Text(answer proto.Message) string {
	text, err := protojson.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err.Error()
	}
	return compact.String()
}

// Blank returns an empty message of the same type.
func Blank(m proto.Message) proto.Message { return m.ProtoReflect().New().Interface() }

// IsPrompt reports whether a call never blocks, so that it needs no separate process.
func IsPrompt(client grpc.ClientConnInterface) bool {
	c, ok := client.(interface{ Prompt() bool })
	return ok && c.Prompt()
}
