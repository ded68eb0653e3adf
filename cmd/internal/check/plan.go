package check

import (
	"fmt"
	"slices"
	"strings"
)

// Group is one line of the report card, for several trials with one subject.
type Group struct {
	Name, Title string
}

// Groups lists the groups of all trials in the order of the report card.
func Groups() []Group { return slices.Clone(groups) }

// groups are the groups of all trials in the order of the report card, the most important first.
var groups = []Group{
	{"claims", "Claims without pods"},
	{"life", "Life of a volume"},
	{"access", "Access modes"},
	{"share", "Several volumes and pods"},
	{"grow", "Growing volumes"},
	{"snapshot", "Snapshots and clones"},
	{"listed", "Lists of objects"},
	{"group", "Group snapshots"},
	{"repeated", "Repeated calls"},
	{"contradicted", "Contradicting calls"},
	{"lost", "Lost and late answers"},
	{"timed-out", "Deadlines that pass"},
	{stalled, "Calls that stall"},
	{"in-use", "Mounts in use"},
	{brokenMounts, "Mounts that fail"},
	{"system-calls", "Cut off between changes"},
	{service, "Service that fails"},
	{"abandoned", "Given up half-way"},
	{"restart", "Restarts at every step"},
	{"crash-driver", "Driver killed at calls"},
	{"crash-caller", "Caller killed at calls"},
	{"reboot", "Power loss"},
	{"move", "Move to another node"},
	{"overlap", "Overlapping calls"},
	{dayTwo, "Day-2 operations"},
	{inline, "Inline volumes"},
	{deep, "Searched"},
	{"upgrade", "Upgrade"},
	{rollback, "Rollback"},
	{"node-first", "Node plugins first"},
	{"controller-first", "Controller first"},
	{"upgrade" + atCall, "Upgrade at calls"},
	{rollback + atCall, "Rollback at calls"},
}

// Trial is one scenario for a driver, or the reason why it is not run.
type Trial struct {
	Group string
	Title string // within the group: a method, a form of volume
	// Text is the scenario, parsed when the trial is run; empty if the trial is not offered.
	Text string
	// NotOffered is the reason why the driver, or its kind of subject, does not support the trial;
	// otherwise empty. Such a trial is not counted, since real clusters do not make its calls.
	NotOffered string
	// NotTried is the reason why the trial cannot be run, and Cause its kind; otherwise empty.
	NotTried string
	Cause    Cause
	// Known describes defects that were known before the run, and causes of failures; usually
	// empty.
	Known string

	secret bool // there are Secrets in the text
	plan   *plan
	parts  []part // its faults, if it has several
}

// Cause is the kind of reason for which a trial is not run although the driver supports it.
type Cause string

// The causes.
const (
	Machine   Cause = "machine"
	Budget    Cause = "budget"
	Interrupt Cause = "interrupt"
	Slow      Cause = "slow"
)

// Runs reports whether the trial can be run.
func (t *Trial) Runs() bool { return t.NotOffered == "" && t.NotTried == "" }

// without returns the trial with the reason why it was not tried.
func (t *Trial) without(cause Cause, why string) *Trial {
	kept := *t
	kept.NotTried, kept.Cause = why, cause
	return &kept
}

// Name returns the name that selects the trial: lost/NodeStageVolume.
func (t *Trial) Name() string { return t.Group + "/" + t.Title }

// plan holds the trials that are composed for one driver.
type plan struct {
	facts  *Facts
	trials []*Trial
	err    error
}

// Plan composes the scenarios that apply to a driver.
func Plan(f *Facts) ([]*Trial, error) {
	p := &plan{facts: f}
	for _, add := range []func(*plan){
		claims, lives, accessModes, sharing, growing, snapshots, listed, groupSnapshots, repeatedCalls, contradictedCalls, contradictedCopies, contradictedPublish, lostAnswers, timedOutCalls, stalledCalls, mountsInUse, failingMounts, systemCalls, failingService, abandonedCalls, restarts, driverCrashes, callerCrashes, reboots, moves,
		overlappingCalls, dayTwoOperations, inlineVolumes,
	} {
		add(p)
	}
	return p.trials, p.err
}

// try composes a scenario if all needs are empty, which means that the driver supports the
// scenario. Otherwise the first non-empty need is the reason. Whether this machine can run it
// follows from the scenario.
func (p *plan) try(group, title, description string, needs []string, compose func(*script)) {
	ofInline := group == inline || title == inline || strings.HasPrefix(title, inline+"-")
	if !ofInline && !p.facts.Persistent() { // K-PUB-7
		return
	}
	t := &Trial{Group: group, Title: title, secret: len(p.facts.subject.Secrets) > 0}
	p.trials = append(p.trials, t)
	if t.NotOffered = first(needs...); t.NotOffered != "" {
		return
	}
	s := &script{facts: p.facts}
	compose(s)
	text, err := s.text(t.Name(), description)
	t.Text = text
	if err != nil && p.err == nil {
		p.err = err
	}
	if why := s.beyond(); why != "" {
		t.NotTried, t.Cause = why, Machine
	}
}

// beyond returns the reason why this machine cannot run the scenario; empty if it can.
func (s *script) beyond() string {
	switch {
	case s.mounts && s.facts.NoMounts != "":
		return s.facts.NoMounts
	case s.mounts && s.facts.NoFUSE != "":
		return s.facts.NoFUSE
	case s.devices && s.facts.NoDevices != "":
		return s.facts.NoDevices
	case s.unmounts:
		return s.facts.NoUnmounts
	}
	return ""
}

// needsKind returns the reason why volumes of a kind cannot be tried; empty if they can.
func (p *plan) needsKind(form, access string) string {
	if form == block && p.facts.NotPublished != "" {
		return "raw block volumes are made and not published, as life/block shows: " + p.facts.NotPublished
	}
	return p.needsMaking(form, access)
}

// needsMaking returns the reason why volumes of a kind are not created; empty if they are.
func (p *plan) needsMaking(form, access string) string {
	access = p.facts.subject.access(access)
	if why := p.facts.subject.leavesOut(Kind{form, access}); why != "" {
		return why
	}
	answer, refused := p.facts.Refused[Kind{form, access}]
	if !refused {
		return ""
	}
	return fmt.Sprintf("no %s volume with %s: CreateVolume %s", form, access, answer)
}

// needsNodes returns the reason why trials on two nodes cannot be run; empty if they can.
func (p *plan) needsNodes() string {
	if p.facts.subject.oneNode() {
		return "needs two nodes, and the driver has one plugin for all"
	}
	return ""
}

// needsOnePlace returns the reason why the topology of a volume does not permit its use on two
// nodes; empty if it does.
func (p *plan) needsOnePlace() string {
	if !p.facts.OnePlace() {
		return "volumes are bound to the places of nodes: NodeGetInfo returns another topology on each"
	}
	return ""
}

// needsOurs returns the reason why trials cannot kill the driver; empty if they can. Only a driver
// that csisim has started can be killed.
func (p *plan) needsOurs() string {
	if !p.facts.subject.ours() {
		return "csisim did not start the driver on the socket and cannot end it"
	}
	return ""
}

// needsController returns the reason why trials of the controller plugin alone cannot be run; empty
// if they can.
func (p *plan) needsController() string {
	if len(p.facts.Controller) == 0 {
		return "the driver has no controller service"
	}
	return ""
}

// effects returns, in their order, the calls of a volume's life that change something. For a call
// that is not made, it includes the reason.
func (p *plan) effects() []effect {
	f := p.facts
	missing := func(has bool, service, capability string) string {
		if has {
			return ""
		}
		return fmt.Sprintf("the %s service lacks %s", service, capability)
	}
	provisions := missing(f.Provisions(), "controller", "CREATE_DELETE_VOLUME")
	attaches := missing(f.Attaches(), "controller", "PUBLISH_UNPUBLISH_VOLUME")
	stages := missing(f.Stages(), "node", "STAGE_UNSTAGE_VOLUME")
	return []effect{
		{"CreateVolume", provisions}, {"ControllerPublishVolume", attaches}, {"NodeStageVolume", stages},
		{"NodePublishVolume", ""}, {"NodeUnpublishVolume", ""}, {"NodeUnstageVolume", stages},
		{"ControllerUnpublishVolume", attaches}, {"DeleteVolume", provisions},
	}
}

type effect struct{ call, missing string }

// onNode reports whether a call is made to the plugin of a node.
func (e effect) onNode() bool { return strings.HasPrefix(e.call, "Node") }

// undoes reports whether a call undoes an earlier one.
func (e effect) undoes() bool {
	return slices.Contains([]string{"NodeUnpublishVolume", "NodeUnstageVolume", "ControllerUnpublishVolume", "DeleteVolume"}, e.call)
}

// Names lists the trials.
func Names(trials []*Trial) []string {
	var names []string
	for _, t := range trials {
		names = append(names, t.Name())
	}
	return names
}
