package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// Ask starts the driver and determines its name and capabilities. The error is a *sim.ConfigError
// or a *sim.EnvironmentError if the driver cannot be run, and a *RefusedError if it runs but makes
// no volume.
func Ask(ctx context.Context, s Subject, o RunOptions) (*Facts, error) {
	f := &Facts{
		subject: s, Refused: map[Kind]string{}, places: map[string]string{}, nodeIDs: map[string]string{},
		volumeContext: map[string]bool{}, publishContext: map[string]bool{},
	}
	f.NoMounts, f.NoDevices, f.NoUnmounts = noMounts(s, o), noDevices(s), noUnmounts(s)
	if f.NoMounts != "" {
		o.Isolation = sim.None // trials without mounts can still run
	}
	err := f.identify(ctx, o)
	if status.Code(err) == codes.Unimplemented && !f.subject.Driver.NoController {
		f.subject.Driver.NoController = true // the missing call is ControllerGetCapabilities
		err = f.identify(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	f.subject.Driver.Name = f.Name
	if f.Inline() {
		if err := f.tryInline(ctx, o); err != nil || !f.Persistent() {
			return f, err
		}
	}
	if err := f.tryKinds(ctx, o); err != nil {
		return f, err
	}
	return f, f.tryMountOption(ctx, o)
}

// noMounts returns the reason why a driver program cannot mount on this machine; empty if it can.
// If the user has turned isolation off, the result is empty.
func noMounts(s Subject, o RunOptions) string {
	if s.Driver.Mock != nil || s.Driver.Socket != nil || o.Isolation == sim.None {
		return ""
	}
	dir, err := workdir.New(o.WorkDir)
	if err != nil {
		return "" // the first run reports it
	}
	defer dir.Close() // if it fails, csisim clean removes the directory
	m, err := machine.NewNamespace("probe", dir.Path(), false)
	if refusal := (*namespaces.Refusal)(nil); errors.As(err, &refusal) {
		return "nodes cannot have mounts of their own: " + refusal.Cause
	}
	if err == nil {
		err = m.Close()
	}
	_ = err // the first run reports it
	return ""
}

// noDevices returns the reason why a driver program cannot have raw block volumes; empty if it can.
func noDevices(s Subject) string {
	if limits := namespaces.Limits(); limits != "" && s.Driver.Mock == nil && s.Driver.Socket == nil {
		return "no loop devices and no device nodes: " + limits
	}
	return ""
}

// noUnmounts returns the reason why a driver program's unmounting cannot be made to fail; empty if
// it can.
func noUnmounts(s Subject) string {
	if s.Driver.Mock != nil || s.Driver.Socket != nil || machine.ShowsChanges() {
		return ""
	}
	return "csisim cannot trace the unmounts of programs: that takes Linux 5.19, amd64 or arm64, and CAP_SYS_ADMIN"
}

// identify starts a cluster with the driver. There the registrar, the kubelet and the sidecars
// request the driver's name and capabilities.
func (f *Facts) identify(ctx context.Context, o RunOptions) error {
	driver, err := f.subject.driverYAML()
	if err != nil {
		return err
	}
	text := "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n" + f.subject.clusterYAML(usualNodes) + "drivers:\n" + driver + "steps: [{settle: {}}]\n"
	result, err := f.observe(ctx, "identify", text, o)
	if err != nil {
		return err
	}
	f.learn(result.Trace)
	if result.Exit == scenario.Failed && !isRegistered(result.Trace) {
		return &RefusedError{Doing: "register", Failure: result.Failures[0], Names: result.Names, Overdue: f.Overdue}
	}
	return nil
}

// isRegistered reports whether the kubelet has registered the driver. A driver that violates the
// CSI spec later can be checked, because the trials show the violation.
func isRegistered(events []*trace.Event) bool {
	return slices.ContainsFunc(events, func(e *trace.Event) bool {
		accepted, is := e.Request.(interface{ GetPluginRegistered() bool })
		return is && accepted.GetPluginRegistered()
	})
}

// kinds are the kinds of volumes to try, the plain kind first.
var kinds = []Kind{
	{filesystem, oneNodeRW}, {block, oneNodeRW},
	{filesystem, onePodRW}, {filesystem, manyRW}, {filesystem, manyRO}, {block, manyRW},
}

// kindsToTry returns the kinds to try with this driver, the kind of most scenarios first. For a
// driver that creates no volumes it is the only kind.
func (f *Facts) kindsToTry() []Kind {
	tried := []Kind{{filesystem, f.subject.access(oneNodeRW)}}
	for _, k := range kinds {
		if f.Provisions() && f.subject.leavesOut(k) == "" && !slices.Contains(tried, k) {
			tried = append(tried, k)
		}
	}
	return tried
}

// tryKinds requests a volume of each kind, since a driver does not declare which kinds it makes. A
// pod uses the plain kind, so that the kubelet requests the node plugin's capabilities.
func (f *Facts) tryKinds(ctx context.Context, o RunOptions) error {
	s := &script{facts: f, immediate: true}
	var claims []claim
	tried := f.kindsToTry()
	for _, k := range tried {
		claims = append(claims, claim{name: k.claimName(), form: k.Form, access: k.Access})
	}
	s.apply(asManifests(claims)...)
	s.apply(web(nodeA, claims[0]))
	blocks := Kind{block, f.subject.access(oneNodeRW)}
	at := slices.Index(tried, blocks)
	tryBlock := at >= 0 && f.NoDevices == "" && f.NoMounts == ""
	if tryBlock {
		s.apply(pod{name: "block", node: nodeA, claims: claims[at : at+1]})
	}
	s.step("advance: 1m")
	s.step("delete: {pod: web}")
	if tryBlock {
		s.step("delete: {pod: block}")
	}
	s.step("advance: 1m")
	for _, c := range claims {
		s.step("delete: {pvc: %s}", c.name)
	}
	s.step("advance: 5m")
	o.SystemCalls = f.NoUnmounts == ""
	result, err := f.tried(ctx, s, "kinds", "Which kinds of volume the driver makes.", o)
	if err != nil {
		return err
	}
	f.learn(result.Trace)
	f.SystemCalls = systemCallsOf(result, func(e *trace.Event) bool { return result.Names.Volume(e) == tried[0].claimName() })
	f.learnRequests(result, tried[0].claimName())
	if !f.Provisions() {
		return nil
	}
	made := map[string]string{} // by claim: the last answer of CreateVolume
	for _, e := range result.Trace {
		if _, creates := e.Request.(*csi.CreateVolumeRequest); creates && e.Kind == trace.Call {
			made[result.Names.Volume(e)] = answerOf(e)
		}
	}
	f.subject.learnSize(result.Trace)
	for _, k := range tried {
		if answer, tried := made[k.claimName()]; !tried || answer != "" {
			f.Refused[k] = answer
		}
	}
	f.NotPublished = refusedOnNode(result, blocks.claimName())
	answer, refused := f.Refused[tried[0]]
	switch {
	case refused && f.NoFUSE != "":
		return &sim.EnvironmentError{Doing: "make a volume", Err: errors.New(f.NoFUSE)}
	case refused:
		return &RefusedError{Doing: "make a plain volume: CreateVolume " + cmp.Or(answer, "was not called"), Overdue: f.Overdue}
	}
	return nil
}

// refusedOnNode returns the final answer by which a node plugin refuses a claim's volume after a
// successful CreateVolume; empty if the plugin accepts it.
func refusedOnNode(r *scenario.Result, claim string) (answer string) {
	id := ""
	for _, e := range r.Trace {
		if made, ok := e.Response.(*csi.CreateVolumeResponse); ok && r.Names.Volume(e) == claim {
			id = made.GetVolume().GetVolumeId()
		}
		about, ok := e.Request.(interface{ GetVolumeId() string })
		if !ok || e.Kind != trace.Call || id == "" || about.GetVolumeId() != id {
			continue
		}
		switch e.Method {
		case "Node/NodeStageVolume", "Node/NodePublishVolume":
			switch e.Code {
			case codes.InvalidArgument.String(), codes.Unimplemented.String():
				answer = path.Base(e.Method) + " " + answerOf(e)
			case "":
				answer = ""
			}
		}
	}
	return answer
}

// mountOptions are options that every file system and every bind mount supports. There are two
// options, because a driver that uses only the first one would pass with a single option.
var mountOptions = []string{"nosuid", "noexec"}

// withMountOptions returns the facts of a driver with the options in its volumes.
func (f *Facts) withMountOptions() *Facts {
	with := *f
	for _, option := range mountOptions {
		if !slices.Contains(with.subject.MountOptions, option) {
			with.subject.MountOptions = append(slices.Clone(with.subject.MountOptions), option)
		}
	}
	return &with
}

// tryMountOption requests a volume with a mount option, which a driver may refuse.
func (f *Facts) tryMountOption(ctx context.Context, o RunOptions) error {
	if f.NoMounts != "" || f.NoFUSE != "" || f.subject.Driver.Mock != nil {
		return nil
	}
	s := &script{facts: f.withMountOptions(), immediate: true}
	s.apply(data)
	s.apply(web(nodeA, data))
	s.step("advance: 1m")
	s.step("delete: {pod: web}")
	s.step("advance: 1m")
	s.step("delete: {pvc: %s}", data.name)
	s.step("advance: 5m")
	result, err := f.tried(ctx, s, "mount-option", "Whether the driver takes a mount option.", o)
	if err != nil {
		return err
	}
	f.MountOptionRefused = refusedOption(result)
	return nil
}

// tried makes a run to collect facts. The driver may fail in this run.
func (f *Facts) tried(ctx context.Context, s *script, name, description string, o RunOptions) (*scenario.Result, error) {
	text, err := s.text(name, description)
	if err != nil {
		return nil, err
	}
	closed := f.subject.closedFUSE()
	if closed != "" && o.Logs == "" {
		dir, err := workdir.New(o.WorkDir)
		if err != nil {
			return nil, err
		}
		defer dir.Close() // if it fails, csisim clean removes the directory
		o.Logs = dir.Path()
	}
	result, err := f.observe(ctx, name, text+"\nexpect: {leftovers: any, violations: any}\n", o)
	if closed != "" && err == nil && needsFUSE(result, o.Logs) {
		f.NoFUSE = closed
	}
	return result, err
}

// refusedOption returns the last error that prevents the use of a volume with a mount option; empty
// if the volume is published. Any code counts, since mount(8) may have refused the option.
func refusedOption(r *scenario.Result) (answer string) {
	for _, e := range r.Trace {
		if e.Kind != trace.Call {
			continue
		}
		switch e.Request.(type) {
		case *csi.CreateVolumeRequest, *csi.ControllerPublishVolumeRequest, *csi.NodeStageVolumeRequest, *csi.NodePublishVolumeRequest:
			if e.Code != "" {
				answer = path.Base(e.Method) + " " + answerOf(e)
			} else if e.Method == "Node/NodePublishVolume" {
				return ""
			}
		}
	}
	return answer
}

// tryInline starts a pod with an inline volume, which makes the kubelet request the node plugin's
// capabilities. A volume that is refused with InvalidArgument is tried read-only, too.
func (f *Facts) tryInline(ctx context.Context, o RunOptions) error {
	result, err := f.pluginWithInline(ctx, o)
	if err != nil {
		return err
	}
	f.learn(result.Trace)
	f.InlineCalls = systemCallsOf(result, func(*trace.Event) bool { return true })
	if f.NoFUSE != "" {
		return nil
	}
	if f.InlineRefused = refusedInline(result); !strings.Contains(f.InlineRefused, codes.InvalidArgument.String()+": ") {
		return nil
	}
	f.InlineReadOnly = true
	readOnly, err := f.pluginWithInline(ctx, o)
	if err == nil && refusedInline(readOnly) == "" {
		f.InlineRefused, f.InlineCalls = "", systemCallsOf(readOnly, func(*trace.Event) bool { return true })
		return nil
	}
	f.InlineReadOnly = false
	return err
}

// pluginWithInline runs a pod with an inline volume.
func (f *Facts) pluginWithInline(ctx context.Context, o RunOptions) (*scenario.Result, error) {
	s := &script{facts: f}
	user := worker("web", tmp)
	s.apply(user)
	s.step("advance: 1m")
	s.step("delete: {pod: web}")
	s.step("advance: 1m")
	o.SystemCalls = f.NoUnmounts == ""
	return f.tried(ctx, s, "inline", "The capabilities of the node plugin.", o)
}

// refusedInline returns the final answer by which a node plugin refuses inline volumes; empty if
// the plugin accepts them.
func refusedInline(r *scenario.Result) (answer string) {
	for _, e := range r.Trace {
		if _, publishes := e.Request.(*csi.NodePublishVolumeRequest); !publishes || e.Kind != trace.Call {
			continue
		}
		if e.Code == "" {
			return ""
		}
		answer = "NodePublishVolume " + answerOf(e)
	}
	return answer
}

// answerOf returns the error of a call; empty for OK.
func answerOf(e *trace.Event) string {
	if e.Code == "" {
		return ""
	}
	return fmt.Sprintf("answers %s: %s", e.Code, e.Message)
}

func (k Kind) claimName() string { return strings.ToLower(k.Form + "-" + k.Access) }

// observe runs a scenario to collect facts about the driver.
func (f *Facts) observe(ctx context.Context, name, text string, o RunOptions) (*scenario.Result, error) {
	s, err := parse(name, text)
	var mistakes strict.Problems
	switch {
	// The user's input does not fit the format of scenarios.
	case errors.As(err, &mistakes):
		_, mistake, _ := strings.Cut(mistakes[0].Error(), ": ")
		return nil, &sim.ConfigError{Subject: "the driver", Problem: mistake}
	case err != nil:
		return nil, err
	}
	options := o.scenarioOptions()
	options.Inspect = func(c *sim.Simulation) error {
		f.Controllers = c.Controllers()
		for _, name := range c.Drivers() {
			var err error
			if f.Addons, err = c.AddonsPromises(name); err != nil {
				return err
			}
		}
		return nil
	}
	result, err := scenario.Run(ctx, s, options)
	if result != nil {
		f.Overdue += len(result.Overdue)
	}
	return result, err
}

// RefusedError means that a driver runs but cannot be checked.
type RefusedError struct {
	Doing   string
	Failure scenario.Failure // default: none
	Names   *calls.Names
	Overdue int // calls that exceeded the patience
}

func (e *RefusedError) Error() string {
	text := "the driver does not " + e.Doing
	if inReadOnlyDev(text) {
		text += "\n" + readOnlyDevices
	}
	if !e.Failure.Verdict.IsZero() {
		text += "\n" + e.Failure.Text(e.Names)
	}
	return text + scenario.OverdueInTotal(e.Overdue)
}
