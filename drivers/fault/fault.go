// Package fault describes what can go wrong between a caller and a driver, and
// decides for each call whether it does.
package fault

import (
	"fmt"
	"path"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// Fault is one misbehaviour and the calls that it affects. Empty filters match all.
type Fault struct {
	// Name is how the fault is cleared and named in reports.
	Name string
	// Call is the method, such as "NodeStageVolume"; * stands for any letters.
	Call string
	// Driver, Node, From and Volume narrow it down: the driver's name, the node
	// called ("" for any), the caller ("csi-attacher"), the volume id or, for
	// CreateVolume, the requested name.
	Driver, Node, From, Volume string
	// LargerThan narrows it down to calls that require more bytes than that; 0 is
	// no limit. Calls that require no size are not affected then.
	LargerThan int64
	// After lets this many matching calls pass first.
	After int
	// Times is the number of calls affected; 0 is all until the fault is cleared.
	Times int

	// Effect is what happens to the call.
	Effect Effect
	// Code and Message are what the caller sees with Answer and LoseAnswer.
	Code    codes.Code
	Message string
	// Response is, as JSON, what the caller gets with Instead.
	Response []byte
	// Delay is how long, in virtual time, the call is held with HoldRequest and
	// HoldAnswer; 0 is until the fault is cleared.
	Delay time.Duration
	// Victim dies with Kill, at a moment of the call, and is started again after
	// RestartAfter of virtual time; 0 leaves it down.
	Victim       Victim
	At           Moment
	RestartAfter time.Duration
	// Changes is how many changes of files a driver's program has made when, with AtWork, the
	// victim dies, with TimeOut the deadline passes or with Stall it stops, just before the next; default 1. To make or empty a file is one, to
	// fill it another; so are renaming, removing, mounting, unmounting. A call with
	// fewer ends first.
	Changes int
	// System is the system call with which FailSystemCall fails, with the error Fails, such as "EBUSY", or before which
	// the victim dies with Kill. Of FailSystemCall, Times is the number of system calls that fail. A CSI call without
	// such a system call is not affected.
	System SystemCall
	Fails  string
	// Request is the HTTP request of the driver's program that fails with FailRequest, as Fails says: "HTTP 500",
	// "reset". Times is the number of requests that fail. A CSI call without such a request is not affected.
	Request Request
	// Deed is what somebody does with Meanwhile.
	Deed Deed

	seen, fired int
	cleared     bool
	onClear     []func()
}

// Cleared reports whether the fault is no longer in force.
func (f *Fault) Cleared() bool { return f.cleared }

// OnClear calls what when the fault is cleared.
func (f *Fault) OnClear(what func()) { f.onClear = append(f.onClear, what) }

func (f *Fault) clear() {
	f.cleared = true
	for _, what := range f.onClear {
		what()
	}
}

// Effect is the kind of misbehaviour.
type Effect string

const (
	// Answer: the driver never sees the call, the caller sees Code.
	Answer Effect = "answer"
	// Instead: the driver never sees the call, the caller gets Response.
	Instead Effect = "instead"
	// LoseAnswer: the driver does what it was asked, the caller sees Code (default Unavailable).
	LoseAnswer Effect = "lose-answer"
	// HoldRequest: the call reaches the driver after Delay, whatever its caller did meanwhile.
	HoldRequest Effect = "hold-request"
	// HoldAnswer: the driver acts at once, its answer arrives after Delay.
	HoldAnswer Effect = "hold-answer"
	// LateAnswer: the driver acts at once, its answer arrives when the caller has given up.
	LateAnswer Effect = "late-answer"
	// TimeOut: the deadline of the call passes while the driver works on it, between two changes of files (Changes) if they are
	// seen, and ends the call's context there. Nobody hears what the driver does then.
	TimeOut Effect = "time-out"
	// Stall: the driver's program stands still in the call, between two changes of files (Changes), until its caller has given up and
	// other calls have come, and goes on then. A driver whose changes are not seen acts at once; its answer is late.
	Stall Effect = "stall"
	// LateEffect: the driver gets the call when the caller has given up, and acts then.
	LateEffect Effect = "late-effect"
	// Hang: the driver never sees the call and never answers.
	Hang Effect = "hang"
	// Repeat: right after its OK the driver gets the same call again, which must
	// change nothing more and be answered the same. It affects only calls that have
	// an effect; the caller sees the first answer.
	Repeat Effect = "repeat"
	// Overlap: the driver gets the same call twice at once and may answer either with
	// ABORTED; the effect must be that of one. It affects only calls that have an effect;
	// the caller sees one answer.
	Overlap Effect = "overlap"
	// Contradict: right after its OK the driver gets a call that cannot be granted
	// beside it, and must refuse it: a single-node volume is to be attached to another
	// node as well, a volume of the same name is to be bigger, a
	// volume for a single writer is to be published at another path, too. The caller does not notice.
	Contradict Effect = "contradict"
	// InUse: while a driver's program works on the call its mounts are in use, so that its
	// first attempt to unmount one fails with EBUSY; not if it detaches it (MNT_DETACH).
	InUse Effect = "in-use"
	// FailSystemCall: a system call of the driver's program fails, without being made.
	FailSystemCall Effect = "fail-system-call"
	// FailRequest: a request of the driver's program to a stand-in for its service fails.
	FailRequest Effect = "fail-request"
	// Kill: somebody dies at the call. If it is the driver, the caller's connection
	// is lost; else the call takes its course, whether its caller lives or not.
	Kill Effect = "kill"
	// Meanwhile: the call takes its course, and somebody does Deed.
	Meanwhile Effect = "meanwhile"
)

// Site is the call that is looked at.
type Site struct {
	Method             string // "Node/NodeStageVolume"
	Driver, Node, From string
	Volume             string
	Bytes              int64 // that the call requires
}

// Matches reports whether the fault is about such a call.
func (f *Fault) Matches(s Site) bool {
	_, short, _ := strings.Cut(s.Method, "/")
	if ((f.Effect == Repeat || f.Effect == Overlap) && !HasEffect(short)) || (f.Effect == Contradict && !CanBeContradicted(short)) {
		return false
	}
	return (matches(f.Call, short) || matches(f.Call, s.Method)) &&
		(f.Driver == "" || f.Driver == s.Driver) && (f.Node == "" || f.Node == s.Node) &&
		(f.From == "" || f.From == s.From || strings.HasPrefix(s.From, f.From+"/")) && (f.LargerThan == 0 || s.Bytes > f.LargerThan) && (f.Volume == "" || matches(f.Volume, s.Volume))
}

func matches(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return err == nil && ok
}

// InWords is the fault in the words of the recorded traces' inj field.
func (f *Fault) InWords() string {
	switch f.Effect {
	case Instead:
		return "another answer, driver did not see it"
	case LoseAnswer:
		return fmt.Sprintf("driver did it, answer lost, code %v", f.Code)
	case HoldRequest:
		return fmt.Sprintf("held%s before the driver saw it", f.toldDelay())
	case HoldAnswer:
		return fmt.Sprintf("driver did it at once, answer held%s", f.toldDelay())
	case LateAnswer:
		return "driver did it at once, answer held until the caller gave up"
	case TimeOut:
		return "deadline passed while the driver worked on it"
	case Stall:
		return "the driver stood still in it until the caller had given up and asked again"
	case LateEffect:
		return "the driver did it when the caller had given up"
	case Repeat:
		return "the same call again, right after its OK"
	case Overlap:
		return "the same call at the same time"
	case Contradict:
		return "what cannot be granted beside the call before"
	case InUse:
		return "a mount was in use, the driver could not unmount it"
	case FailSystemCall:
		return fmt.Sprintf("%s of the driver failed, %s", f.System, f.Fails)
	case FailRequest:
		return fmt.Sprintf("%s of the driver failed, %s", f.Request, f.Fails)
	case Kill:
		return f.toldOfKill()
	case Hang:
		return "hung, driver did not see it"
	default:
		return fmt.Sprintf("code %v", f.Code)
	}
}

func (f *Fault) toldDelay() string {
	if f.Delay == 0 {
		return ""
	}
	return fmt.Sprintf(" for %v", f.Delay)
}
