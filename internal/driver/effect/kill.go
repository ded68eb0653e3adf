package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// killFields are the fields of faults that kill.
type killFields struct {
	Kill         string          `json:"kill,omitempty" example:"kubelet" doc:"The victim that is killed (SIGKILL) at the call: the called driver, its caller, the kubelet or the whole node of the called plugin, or a controller by its name. If the driver is killed, the call gets no answer; otherwise the driver executes the call."`
	At           string          `json:"at,omitempty" enum:"receipt|work|answer" doc:"With kill, the time of the kill. receipt: before the driver acts. work: after some of the changes that a driver program makes to files; if the system does not show these changes, after 2 ms of wall time. answer: after the driver has acted, and before its answer is delivered. Default receipt."`
	AfterChanges uint            `json:"afterChanges,omitempty" doc:"With at: work, the number of changes of files that the program and its child processes make before the kill; default 1. Creating or truncating a file is one change, and writing to it is another one; renaming, removing, mounting and unmounting count, too. If a call makes fewer changes, it ends before the kill, as with at: answer."`
	Before       *systemCall     `json:"before,omitempty" doc:"With kill: the kill is just before the driver program, or a child process, makes this system call. If a call does not make it, the fault waits for the next call."`
	RestartAs    string          `json:"restartAs,omitempty" example:"v2" doc:"With kill: driver and restartAfter: the release that is started in a new pod, as in an update of the driver. It is one of the driver's versions, or program for the one that was installed first. Default the release that ran."`
	RestartAfter strict.Duration `json:"restartAfter,omitempty" doc:"With kill: the virtual time after which the victim is started again, unless a step has ended it meanwhile; default never."`
}

// systemCall is a system call of a driver program before which the driver is killed.
type systemCall struct {
	Syscall string `json:"syscall" want:"required" example:"mount" doc:"Which system call it is, as with fails; or write, the first to a file that was made or emptied for it."`
	Nth     uint   `json:"nth,omitempty" default:"1" doc:"Which one of the call, from 1."`
	Path    string `json:"path,omitempty" example:"globalmount" doc:"Only those about this path, its last elements or all of it; * stands for any letters within an element."`
}

// kill: the victim is killed during the call. If it is the driver, the caller's connection is lost;
// otherwise the call continues, whether its caller is alive or not.
var kill = &Effect{
	Name:  fault.Kill,
	Field: "kill",
	Given: func(f *Fields) bool { return f.Kill != "" },
	Check: func(f *Fields, call string, c Checker) {
		checkKill(f, call, c)
		c.Release("restartAs", f.RestartAs)
		if f.Before != nil {
			checkBefore(f, c)
		}
	},
	Read:       readKill,
	InSearches: deathsIn,
	Never:      neverKills,
	InWords:    killInWords,
	Disturbs:   butAborted,
	Do:         doKill,
}

// checkKill reports an unknown victim, and fields that need a victim.
func checkKill(f *Fields, call string, c Checker) {
	node := f.Kill == string(fault.Kubelet) || f.Kill == string(fault.Node)
	switch {
	case f.Kill == "":
		for _, field := range []string{"at", "before", "restartAfter", "restartAs", "afterChanges"} {
			if c.Has(field) {
				c.Report(field, field+" without kill", "kill beside it")
			}
		}
	case c.Has("restartAs") && (f.Kill != string(fault.Driver) || f.RestartAfter.Duration <= 0):
		c.Report("restartAs", "restartAs without kill: driver and restartAfter", "both beside it")
	case f.At != string(fault.AtWork) && c.Has("afterChanges"):
		c.Report("afterChanges", "afterChanges without at: work", "at: work beside it")
	case node && calls.IsMethod(call) && !calls.MayReachNode(call):
		c.Report("kill", fmt.Sprintf("kill %s at a controller call", f.Kill), "driver, caller or the name of a controller: controller plugins are not on a node")
	case !slices.Contains(fault.Victims(), f.Kill):
		c.Victim("kill", f.Kill, fault.Victims())
	}
}

func checkBefore(f *Fields, c Checker) {
	c.Known("before.syscall", "system call", f.Before.Syscall, machine.SystemCalls())
	c.Pattern("before.path", f.Before.Path)
	if c.Has("at") || c.Has("afterChanges") {
		c.Report("before", "before with at or afterChanges", "one of them: before says exactly when")
	}
	if !c.HasPrograms() {
		c.Report("before", "a system call without a driver program", "a driver that is a program: a mock makes no system calls")
	}
}

func readKill(f *Fields, into *fault.Fault) {
	into.Victim, into.At, into.Times = fault.Victim(f.Kill), fault.Moment(cmp.Or(f.At, string(fault.OnReceipt))), max(1, into.Times)
	into.Changes, into.RestartAs, into.RestartAfter = int(f.AfterChanges), f.RestartAs, f.RestartAfter.Duration
	if f.Before != nil {
		into.At, into.System = fault.AtWork, fault.SystemCall{Name: f.Before.Syscall, Nth: max(1, int(f.Before.Nth)), Path: f.Before.Path}
	}
}

// neverKills returns the reason why a kill is impossible on a real cluster.
func neverKills(f *fault.Fault) string {
	switch {
	case f.System != (fault.SystemCall{}):
		return unseen(f)
	case f.RestartAs != "":
		return OneRelease
	}
	return ""
}

// OneRelease is the reason why a driver is not upgraded on a real cluster.
const OneRelease = "the image of a driver's pods has one release of its program"

func killInWords(f *fault.Fault) string {
	switch {
	case f.System.Name != "":
		return fmt.Sprintf("%s killed while the driver did it, before %s", f.Victim, f.System)
	case f.At == fault.OnReceipt && f.KillsDriver():
		return fmt.Sprintf("%s killed before the driver did it", f.Victim)
	case f.At == fault.OnReceipt:
		return fmt.Sprintf("%s killed, then the driver did it", f.Victim)
	case f.At == fault.AtWork && f.Changes > 1:
		return fmt.Sprintf("%s killed while the driver did it, after %d changes", f.Victim, f.Changes)
	case f.At == fault.AtWork:
		return fmt.Sprintf("%s killed while the driver did it", f.Victim)
	default:
		return fmt.Sprintf("driver did it, %s killed before the answer", f.Victim)
	}
}

// bootTime is the virtual time for which a search leaves a node without power. The node boots
// before Kubernetes considers it lost.
const bootTime = 20 * time.Second

// deathsIn returns the kills of a search.
func deathsIn(kind fault.Kind, c Called) []fault.Fault {
	switch {
	case kind == fault.Killed:
		return deaths(fault.Driver, "driver killed", fault.RestartTime)
	case kind == fault.Crashed:
		return deaths(fault.Caller, "caller killed", fault.RestartTime)
	case kind == fault.Power && c.OnNode:
		return deaths(fault.Node, "node loses power", bootTime)
	case kind == fault.Halfway && c.Watched:
		return halfway()
	case kind == fault.Upgrades && c.Versioned:
		return upgrades(c)
	}
	return nil
}

// deaths returns the kills of a victim before and after the driver acts.
func deaths(of fault.Victim, name string, restart time.Duration) []fault.Fault {
	return []fault.Fault{
		{Name: name + " before the driver acts", Effect: fault.Kill, Victim: of, At: fault.OnReceipt, RestartAfter: restart},
		{Name: name + " before the answer", Effect: fault.Kill, Victim: of, At: fault.BeforeAnswer, RestartAfter: restart},
	}
}

// mostChanges bounds the changes to files before a kill halfway through a call. Few calls make more
// changes.
const mostChanges = 4

// halfway returns the faults that kill a program during its work.
func halfway() (all []fault.Fault) {
	for n := 1; n <= mostChanges; n++ {
		all = append(all, fault.Fault{
			Name:   fmt.Sprintf("driver killed halfway, after change %d", n),
			Effect: fault.Kill, Victim: fault.Driver, At: fault.AtWork, Changes: n, RestartAfter: fault.RestartTime,
		})
	}
	return all
}

// upgrades returns the faults that kill a driver and start another release.
func upgrades(c Called) []fault.Fault {
	all := deaths(fault.Driver, "driver upgraded", fault.RestartTime)
	if c.Watched {
		all = append(all, fault.Fault{Name: "driver upgraded halfway", Effect: fault.Kill, Victim: fault.Driver, At: fault.AtWork, Changes: 1, RestartAfter: fault.RestartTime})
	}
	for i := range all {
		all[i].RestartAs = fault.NextRelease
	}
	return all
}

// doKill makes the call in a separate process and kills the victim of the fault, which may be the
// caller.
func doKill(c Call, f *fault.Fault) error {
	make := crash
	if f.System.Name != "" {
		make = crashBefore // the driver decides whether the crash happens
	} else {
		c.Struck(f)
	}
	return c.TakeTime(func(p *kernel.Process, into proto.Message) error { return make(c, p, f, into) })
}

func crash(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	if f.At == fault.OnReceipt {
		c.Kill(f)
		if f.KillsDriver() {
			return ErrConnectionLost
		}
		return c.Deliver(p, into)
	}
	if f.At == fault.AtWork && !c.InProcess() {
		return crashAtWork(c, p, f, into)
	}
	err := c.Deliver(p, into)
	c.Kill(f)
	if f.KillsDriver() {
		return ErrConnectionLost
	}
	return err
}

// crashAtWork makes the call and kills the victim when the driver's program has made some of its
// changes. If the program makes fewer, the kill is at the end of the call. If changes are not
// observed, it kills the victim shortly after the program received the call.
func crashAtWork(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	hold := stop(c, f)
	if hold == nil {
		return crashByClock(c, p, f, into)
	}
	defer hold.Release()
	c.Wrap(heldAt(hold.Reached))
	err := c.Deliver(p, into)
	c.Kill(f)
	if f.KillsDriver() {
		return ErrConnectionLost
	}
	if errors.Is(err, ErrHeld) {
		hold.Release()
		err = c.Deliver(p, into)
	}
	return err
}

func crashByClock(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	killed := false
	c.Wrap(func(client grpc.ClientConnInterface) grpc.ClientConnInterface {
		return disturbed{client, p.Kernel(), func() {
			killed = true
			c.Kill(f)
		}}
	})
	if f.KillsDriver() {
		p.Kernel().LetClockDecide(fmt.Sprintf("a fault killed the %s at work on %s: how far it had come is up to the real clock", f.Victim, c.Method()))
	}
	err := c.Deliver(p, into)
	if !killed {
		c.Kill(f)
	}
	if f.KillsDriver() {
		return ErrConnectionLost
	}
	return err
}

// crashBefore makes the call, and kills the victim just before the driver's program makes a certain
// system call. If the program never makes it, the victim is not killed.
func crashBefore(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	w := c.WatchCalls("fault "+f.Name, machine.Interference{At: pointOf(f)})
	if w == nil {
		f.SetHits(0)
		return c.Deliver(p, into)
	}
	defer w.End()
	c.Wrap(heldAt(w.Reached))
	err := c.Deliver(p, into)
	c.RecordCalls(w, fmt.Sprintf("%s killed before it", f.Victim))
	if !errors.Is(err, ErrHeld) {
		f.SetHits(0)
		return err
	}
	c.Struck(f)
	c.Kill(f)
	if f.KillsDriver() {
		return ErrConnectionLost
	}
	w.End()
	return c.Deliver(p, into)
}

// workTime is the wall time for which a driver works on a call before fault.AtWork kills its
// victim, if the driver's changes are not observed.
const workTime = 2 * time.Millisecond

// disturbed is a client of a driver in another process. It runs a function during each call.
type disturbed struct {
	grpc.ClientConnInterface
	kernel *kernel.Kernel
	what   func()
}

// Invoke makes a call. It returns after the function, even if the answer arrives earlier.
func (d disturbed) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	happened := make(chan struct{})
	moment := time.AfterFunc(workTime, func() {
		d.kernel.Post(func() {
			defer close(happened)
			d.what()
		})
	})
	defer moment.Stop()
	err := d.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
	select {
	case <-happened:
	case <-ctx.Done():
	}
	return err
}
