package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
)

func init() {
	register("fault", "Makes CSI calls fail, get lost, hang or take long, or kills a component at one.", `
fault: {name: flaky, call: NodeStageVolume, node: node-a, code: Internal, times: 2}
`, &faultStep{})
	register("clear-fault", "Ends a fault, or all of them; calls that it holds go on.", `clear-fault: flaky`, clearFaultStep(""))
}

// faultStep injects a fault. Exactly one of code, answer, loseAnswer, delayRequest, delayAnswer,
// lateAnswer, timeOut, stall, holdRequest, holdAnswer, repeat, overlap, contradict, hang, inUse,
// mounted, fails and kill selects its effect; loseAnswer can have a code beside it.
type faultStep struct {
	Name         string            `json:"name,omitempty" example:"flaky" doc:"How the fault is named in reports and cleared; default the call."`
	Call         string            `json:"call" want:"required" example:"NodeStageVolume" doc:"The CSI method; * stands for any letters."`
	Driver       string            `json:"driver,omitempty" doc:"Only calls to this driver."`
	Node         string            `json:"node,omitempty" doc:"Only calls to the plugin on this node."`
	From         callerName        `json:"from,omitempty" doc:"Only calls of this caller."`
	Volume       string            `json:"volume,omitempty" doc:"Only calls about this volume id or, of CreateVolume, requested name; * stands for any letters."`
	LargerThan   resource.Quantity `json:"largerThan,omitempty" example:"512Mi" doc:"Only calls that require a bigger volume than that: of CreateVolume, ControllerExpandVolume and NodeExpandVolume."`
	After        uint              `json:"after,omitempty" doc:"Lets so many such calls pass first; default 0."`
	Times        uint              `json:"times,omitempty" doc:"Number of calls affected. Default: all until the fault is cleared; 1 with kill."`
	Code         calls.Code        `json:"code,omitempty" doc:"The driver does not see the call, its caller gets this code."`
	Message      string            `json:"message,omitempty" doc:"The error's message; default says that it was injected."`
	Answer       map[string]any    `json:"answer,omitempty" example:"{pre_usage: {usage_bytes: 100}}" doc:"The driver does not see the call, its caller gets this answer, with the fields of the protocol."`
	LoseAnswer   bool              `json:"loseAnswer,omitempty" doc:"The driver carries out the call; its caller gets the code, by default Unavailable."`
	DelayRequest strict.Duration   `json:"delayRequest,omitempty" doc:"The driver gets the call only after so much virtual time, even if its caller has given up."`
	DelayAnswer  strict.Duration   `json:"delayAnswer,omitempty" doc:"The driver acts at once, its answer comes after so much virtual time."`
	HoldRequest  bool              `json:"holdRequest,omitempty" doc:"The driver gets the call only when the fault is cleared, even if its caller has given up."`
	HoldAnswer   bool              `json:"holdAnswer,omitempty" doc:"The driver acts at once, its answer comes when the fault is cleared."`
	LateAnswer   bool              `json:"lateAnswer,omitempty" doc:"The driver acts at once, its answer comes when its caller has given up."`
	TimeOut      bool              `json:"timeOut,omitempty" doc:"The deadline of the call passes while the driver works on it, and the context of the call ends there, as after two minutes of a mount that hangs: before the second change of files that a driver program makes (if it makes none, its answer is late), or when a driver in Go code begins. Its caller gets DeadlineExceeded."`
	Stall        bool              `json:"stall,omitempty" doc:"The driver program stands still in the call, before its second change of files, until its caller has given up and a minute more, and goes on then. Other calls come meanwhile: its caller asks again, and pods may come and go. A program that makes fewer changes, and a driver in Go code, acts at once; the answer is late."`
	Repeat       bool              `json:"repeat,omitempty" doc:"Right after its OK the driver gets the same call again and must answer the same; its mounts and volumes must be the same, too. Only calls that change something are repeated, and their callers do not notice."`
	Overlap      bool              `json:"overlap,omitempty" doc:"The driver receives the call twice at once, as from a restarted caller, and may answer either with ABORTED. The effect must be that of one call. Only calls that change something are affected, and their callers do not notice."`
	Contradict   bool              `json:"contradict,omitempty" doc:"Right after its OK the driver gets a call that it must refuse: to attach a single-node volume to another node as well, to make a bigger volume of the same name, to publish a volume for a single writer at another path as well. Of CreateVolume, ControllerPublishVolume and NodePublishVolume."`
	Hang         bool              `json:"hang,omitempty" doc:"The driver never sees the call, and no answer ever comes."`
	InUse        bool              `json:"inUse,omitempty" doc:"While a driver program works on the call its mounts are in use: its first attempt to unmount one fails with EBUSY (target is busy), unless it detaches the mount."`
	Mounted      string            `json:"mounted,omitempty" example:"ESTALE" doc:"While a driver program works on the call, the file systems that are mounted at the call's paths fail with this error until they are unmounted, as those of a server that has lost them (ESTALE), a broken disk (EIO) or a FUSE daemon that has died (ENOTCONN): each system call about a file there fails, but unmounting works. With EROFS those that write fail."`
	Syscall      string            `json:"syscall,omitempty" example:"umount2" doc:"With fails: which system calls of the driver program and of its child processes fail during the call. mount, umount2, rename, link, symlink, unlink, mkdir, rmdir, mknod, open (to make, empty or write to a file or block device), truncate, fallocate, pwrite, copy_file_range, fsync, ioctl (of loop devices), each in all forms: renameat2 is rename, fdatasync is fsync."`
	Nth          uint              `json:"nth,omitempty" doc:"With syscall or request: which one of each call fails, from 1; default all."`
	Path         string            `json:"path,omitempty" example:"globalmount" doc:"With syscall: only those about this path, its last elements or all of it; * stands for any letters within an element."`
	Fails        string            `json:"fails,omitempty" example:"EBUSY" doc:"The error with which the system calls fail, without being made, or how requests fail: HTTP 500 and other statuses, reset, slow, stale. times is how many fail then, in all calls together."`
	Request      string            `json:"request,omitempty" example:"DELETE /volumes/*" doc:"With fails: which HTTP requests of the driver program to the stand-in fail; * stands for any letters within an element, alone for any path, or for every request. reset: the service does it, and resets the connection. slow: it does it, and answers when the caller of the CSI call has given up and a minute more. stale: a list of a collection with staleLists lacks the newest thing, and still has the one that was deleted last. HTTP 404 of a DELETE, and HTTP 409 of a POST to a collection with unique, mean that it is done already: so it is. With other statuses nothing is done."`
	Kill         string            `json:"kill,omitempty" example:"kubelet" doc:"The victim at the call (SIGKILL): the called driver, its caller, the kubelet or the whole node of the called plugin, or a controller by its name. If the driver is killed, the call gets no answer; otherwise the driver executes the call."`
	At           string            `json:"at,omitempty" enum:"receipt|work|answer" doc:"When, with kill: on receipt, before the driver acts; while it works, which is after some of the changes that a driver program makes to files (where the system does not show them, 2 ms of wall time later); or when it has acted, before its answer is delivered. Default receipt."`
	AfterChanges uint              `json:"afterChanges,omitempty" doc:"With at: work, how many changes of files the program and its child processes have made; default 1. Creating or truncating a file is one, writing to it another; so are renaming, removing, mounting and unmounting. A call with fewer changes ends first, which is like at: answer."`
	Before       *systemCall       `json:"before,omitempty" doc:"With kill: kills just before the driver program, or a child process, makes this system call. If a call does not make it, the fault waits for the next call."`
	RestartAs    string            `json:"restartAs,omitempty" example:"v2" doc:"With kill: driver and restartAfter: the release that is started then, in a new pod, as an update of the driver does: one of the driver's versions, or program for the one that was installed first. Default the release that ran."`
	RestartAfter strict.Duration   `json:"restartAfter,omitempty" doc:"With kill: after so much virtual time the victim is started again, unless a step has ended it meanwhile; default never."`
}

func (s *faultStep) name() string { return cmp.Or(s.Name, s.Call) }

func (s *faultStep) check(c *checker) {
	if s.Call != "" && !calls.IsMethod(s.Call) {
		c.document.ReportUnknown(c.in("call"), fmt.Sprintf("call %q", s.Call), s.Call,
			`a method of the CSI spec, such as "NodeStageVolume"`, calls.Methods())
	}
	if s.Driver != "" {
		c.driver("driver", s.Driver)
	}
	if s.Node != "" {
		c.node("node", s.Node)
	}
	s.checkEffect(c)
	if calls.IsMethod(s.Call) && !s.LargerThan.IsZero() && !calls.MayBe(s.Call, fault.RequiresSize) {
		c.report("largerThan", fmt.Sprintf("a size of %s, which requires none", s.Call), "a call that requires a size: CreateVolume, ControllerExpandVolume, NodeExpandVolume or *")
	}
	if c.faults[s.name()] && s.name() != "" {
		c.report("name", fmt.Sprintf("fault %q while one of that name may be in force", s.name()), "a name of its own, or clear-fault before it")
	}
	c.faults[s.name()] = true
}

const wantEffect = "one of code, answer, loseAnswer, delayRequest, delayAnswer, holdRequest, holdAnswer, lateAnswer, timeOut, stall, repeat, overlap, contradict, hang, inUse, mounted, fails, kill"

func (s *faultStep) checkEffect(c *checker) {
	effects := s.effects()
	switch {
	case len(effects) == 0 && !c.has("code"):
		c.report("", "a fault without an effect", wantEffect)
	case len(effects) > 1:
		c.report("", strings.Join(effects, " and "), wantEffect)
	case s.Code == "OK":
		c.report("code", "code OK", "a code that is an error")
	case s.Contradict && calls.IsMethod(s.Call) && !calls.MayBe(s.Call, fault.CanBeContradicted):
		c.report("call", "contradict of "+s.Call, "CreateVolume, ControllerPublishVolume, NodePublishVolume or *")
	case s.InUse && !c.hasPrograms():
		c.report("inUse", "mounts in use without a driver program", "a driver that is a program: a mock mounts nothing")
	case s.Mounted != "" && !c.hasPrograms():
		c.report("mounted", "a mounted file system without a driver program", "a driver that is a program: a mock mounts nothing")
	case s.Repeat && calls.IsMethod(s.Call) && !calls.MayBe(s.Call, fault.HasEffect):
		c.report("call", fmt.Sprintf("repeat of %s, which changes nothing", s.Call), "a call that changes something, such as NodeStageVolume, or *")
	case s.Overlap && calls.IsMethod(s.Call) && !calls.MayBe(s.Call, fault.HasEffect):
		c.report("call", fmt.Sprintf("overlap of %s, which changes nothing", s.Call), "a call that changes something, such as NodeStageVolume, or *")
	}
	c.knownAs("mounted", "error", s.Mounted, fault.MountErrors())
	s.checkKill(c)
	c.version("restartAs", s.Driver, s.RestartAs)
	if s.Request != "" {
		s.checkRequest(c)
	} else {
		s.checkSystemCall(c)
	}
	s.checkAnswer(c)
	if strings.HasPrefix(s.Call, "Controller") && s.Node != "" {
		c.report("node", "the node of a controller call", "no node: controller plugins are not on one; volume narrows it down")
	}
}

// checkAnswer reports an answer that the call cannot have.
func (s *faultStep) checkAnswer(c *checker) {
	if s.Answer == nil || !calls.IsMethod(s.Call) {
		return
	}
	text, err := json.Marshal(s.Answer)
	if err == nil {
		err = calls.CheckAnswer(s.Call, text)
	}
	if err != nil {
		c.report("answer", err.Error(), "fields of the answer of "+s.Call+", by their names in the protocol")
	}
}

// checkKill reports an unknown victim, and fields that need a victim.
func (s *faultStep) checkKill(c *checker) {
	node := s.Kill == string(fault.Kubelet) || s.Kill == string(fault.Node)
	switch {
	case s.Kill == "":
		for _, field := range []string{"at", "before", "restartAfter", "restartAs", "afterChanges"} {
			if c.has(field) {
				c.report(field, field+" without kill", "kill beside it")
			}
		}
	case c.has("restartAs") && (s.Kill != string(fault.Driver) || s.RestartAfter.Duration <= 0):
		c.report("restartAs", "restartAs without kill: driver and restartAfter", "both beside it")
	case s.At != string(fault.AtWork) && c.has("afterChanges"):
		c.report("afterChanges", "afterChanges without at: work", "at: work beside it")
	case node && calls.IsMethod(s.Call) && !calls.MayReachNode(s.Call):
		c.report("kill", fmt.Sprintf("kill %s at a controller call", s.Kill), "driver, caller or the name of a controller: controller plugins are not on a node")
	case !slices.Contains(fault.Victims(), s.Kill):
		if known := c.controllers(); len(known) > 0 && !slices.Contains(known, s.Kill) {
			c.unknown("kill", "victim", s.Kill, append(fault.Victims(), known...))
		}
	}
}

func (s *faultStep) effects() []string {
	var found []string
	for _, effect := range []struct {
		name  string
		given bool
	}{
		{"code", s.Code != "" && !s.LoseAnswer}, {"answer", s.Answer != nil}, {"loseAnswer", s.LoseAnswer},
		{"delayRequest", s.DelayRequest.Duration > 0}, {"delayAnswer", s.DelayAnswer.Duration > 0},
		{"holdRequest", s.HoldRequest}, {"holdAnswer", s.HoldAnswer},
		{"lateAnswer", s.LateAnswer}, {"timeOut", s.TimeOut}, {"stall", s.Stall}, {"repeat", s.Repeat}, {"overlap", s.Overlap}, {"contradict", s.Contradict}, {"hang", s.Hang}, {"inUse", s.InUse}, {"mounted", s.Mounted != ""}, {"fails", s.Fails != ""}, {"kill", s.Kill != ""},
	} {
		if effect.given {
			found = append(found, effect.name)
		}
	}
	return found
}

func (s *faultStep) do(r *runner) error {
	return r.cluster.Inject(s.fault())
}

func (s *faultStep) fault() *fault.Fault {
	f := &fault.Fault{
		Name: s.name(), Call: s.Call, Driver: s.Driver, Node: s.Node, From: string(s.From), Volume: s.Volume,
		LargerThan: s.LargerThan.Value(), After: int(s.After), Times: int(s.Times), Code: s.Code.GRPC(),
		Message: cmp.Or(s.Message, fmt.Sprintf("fault %s of the scenario", s.name())),
	}
	switch {
	case s.Answer != nil:
		f.Effect = fault.Instead
		f.Response, _ = json.Marshal(s.Answer) // it was YAML
	case s.LoseAnswer:
		f.Effect = fault.LoseAnswer
		if s.Code == "" {
			f.Code = codes.Unavailable
		}
	case s.HoldRequest:
		f.Effect = fault.HoldRequest
	case s.HoldAnswer:
		f.Effect = fault.HoldAnswer
	case s.DelayRequest.Duration > 0:
		f.Effect, f.Delay = fault.HoldRequest, s.DelayRequest.Duration
	case s.DelayAnswer.Duration > 0:
		f.Effect, f.Delay = fault.HoldAnswer, s.DelayAnswer.Duration
	case s.LateAnswer:
		f.Effect = fault.LateAnswer
	case s.TimeOut:
		f.Effect = fault.TimeOut
	case s.Stall:
		f.Effect = fault.Stall
	case s.Repeat:
		f.Effect = fault.Repeat
	case s.Overlap:
		f.Effect = fault.Overlap
	case s.Contradict:
		f.Effect = fault.Contradict
	case s.Hang:
		f.Effect = fault.Hang
	case s.InUse:
		f.Effect = fault.InUse
	case s.Mounted != "":
		f.Effect, f.Fails = fault.FailMounted, s.Mounted
	case s.Request != "":
		f.Effect, f.Fails = fault.FailRequest, s.Fails
		f.Request = fault.Request{Pattern: s.Request, Nth: int(s.Nth)}
	case s.Fails != "":
		f.Effect, f.Fails = fault.FailSystemCall, s.Fails
		f.System = fault.SystemCall{Name: s.Syscall, Nth: int(s.Nth), Path: s.Path}
	case s.Kill != "":
		f.Effect, f.Victim, f.At, f.RestartAfter = fault.Kill, fault.Victim(s.Kill), fault.Moment(cmp.Or(s.At, string(fault.OnReceipt))), s.RestartAfter.Duration
		f.Times, f.Changes, f.RestartAs = max(1, f.Times), int(s.AfterChanges), s.RestartAs
		if s.Before != nil {
			f.At, f.System = fault.AtWork, s.Before.fault()
		}
	default:
		f.Effect = fault.Answer
	}
	return f
}

// breaksMounts reports whether a step makes mounted file systems fail.
func (s *Scenario) breaksMounts() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		f, is := step.action.(*faultStep)
		return is && f.Mounted != ""
	})
}

// clearFaultStep ends the fault of a name, or all.
type clearFaultStep string

const allFaults = "all"

// Wanted describes the names.
func (clearFaultStep) Wanted() string { return "the name of a fault, or all" }

func (s clearFaultStep) check(c *checker) {
	switch {
	case s == allFaults:
		clear(c.faults)
	case s != "" && !c.faults[string(s)]:
		c.unknown("", "fault", string(s), append(slices.Collect(maps.Keys(c.faults)), allFaults))
	default:
		delete(c.faults, string(s))
	}
}

func (s clearFaultStep) do(r *runner) error {
	name := string(s)
	if name == allFaults {
		name = ""
	}
	return r.cluster.ClearFaults(name)
}

// hasPrograms reports whether csisim starts a driver of the scenario as a program.
func (c *checker) hasPrograms() bool {
	return slices.ContainsFunc(c.scenario.Drivers, func(d Driver) bool { return d.Mock == nil && d.Socket == nil })
}
