// Package ledger looks for leftovers, such as mounts and volumes, and for foreign mounts that
// drivers removed. It finds the call that created a leftover and the call that should have removed
// it. [Look] reads the cluster, a [Watch] follows its calls, and the blame is a function of the
// trace.
package ledger

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Kind is the kind of resource of an entry.
type Kind string

// The kinds of things that can be left behind.
const (
	Mount            Kind = "mount"
	Directory        Kind = "directory"
	File             Kind = "file"
	VolumeData       Kind = "volume data" // a vol_data.json
	LoopDevice       Kind = "loop device"
	Process          Kind = "process"
	OpenFile         Kind = "open file"    // of a driver's program
	DeadProcess      Kind = "dead process" // a child that a driver's program does not reap
	VolumeAttachment Kind = "VolumeAttachment"
	Attachment       Kind = "attachment"     // in a driver's backend
	Volume           Kind = "volume"         // in a driver's backend
	Snapshot         Kind = "snapshot"       // in a driver's backend
	GroupSnapshot    Kind = "group snapshot" // in a driver's backend
	Fence            Kind = "fence"          // in a driver's backend
)

// Entry is a thing for which no object of the cluster accounts.
type Entry struct {
	Kind Kind
	Name string
	// Node is empty for things outside the nodes.
	Node string
	// Detail describes the thing further.
	Detail string
	// Made is the event that created it; nil if unknown.
	Made *StepEvent
	// Undo is the CSI call that should have removed it, and Undone the call that was made; nil if
	// there was none.
	Undo   string
	Undone *StepEvent
	// Litter is the reason if Kubernetes itself caused the leak; empty if it did not.
	Litter string
}

// StepEvent is an event of the trace with its step.
type StepEvent struct {
	Event *trace.Event
	// Step is the step's number, from 1, and Title its title; 0 outside of steps.
	Step  int
	Title string
}

// Subject describes the entry without blame: its kind, name and place.
func (e Entry) Subject() string {
	text := string(e.Kind) + " " + e.Name
	if e.Node != "" {
		text += " on " + e.Node
	}
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text
}

func (e Entry) String() string {
	var parts []string
	if e.Made != nil {
		parts = append(parts, "made by "+e.Made.String())
	}
	if e.Undo != "" {
		parts = append(parts, "should have gone with "+e.undone())
	}
	text := e.Subject()
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if e.Litter != "" {
		text += "; " + e.Litter
	}
	return text
}

func (e Entry) undone() string {
	if e.Undone == nil {
		return e.Undo + ", which never came"
	}
	return e.Undone.String() + ", which " + answer(e.Undone.Event)
}

// method returns the CSI method of a call, empty for all other events.
func (d StepEvent) method() string {
	if d.Event.Kind == trace.Call {
		return d.Event.Method
	}
	return ""
}

// name returns the first word for the cause: the short name of a call's method, the kubelet, or a
// component.
func (d StepEvent) name() string {
	switch d.Event.Kind {
	case trace.Call:
		return method(d.Event)
	case trace.FileChange:
		return "kubelet"
	}
	component, _, _ := strings.Cut(d.Event.Actor, "/")
	return cmp.Or(component, "cluster") // a watch of a real cluster does not name the writer
}

func (d StepEvent) String() string {
	text := d.name()
	switch {
	case d.Event.Kind == trace.FileChange:
		text = "the kubelet (" + d.Event.Method + ")"
	case d.Event.Kind != trace.Call && d.Event.Actor == "":
		text = "the cluster"
	}
	text += " at " + seconds(d.Event.At)
	if d.Step > 0 {
		text += fmt.Sprintf(" (step %d: %s)", d.Step, d.Title)
	}
	return text
}

func answer(e *trace.Event) string {
	switch {
	case succeeded(e):
		return "answered OK"
	case e.Code == "":
		return "has not answered yet"
	}
	text := "answered "
	if e.Injected != "" {
		text = "a fault answered: "
	}
	text += e.Code
	if first, _, _ := strings.Cut(e.Message, "\n"); first != "" {
		text += ": " + first
	}
	return text
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64) + " s"
}

// leftBehind is the form of a verdict on an entry.
const leftBehind verdict.Form = "left behind"

// Verdict returns the verdict on the entry. The driver is to blame unless the call that removes the
// resource is missing, or a fault answered this call.
func (e Entry) Verdict() verdict.Verdict {
	v := verdict.Verdict{Breaks: verdict.LeftBehind, Form: leftBehind, Kind: string(e.Kind), Undo: e.Undo, Node: e.Node, Found: []string{e.Name}}
	name := verdict.Say("%s: %s", verdict.Kept(leftBehind), verdict.Kept(e.Kind))
	if e.Made != nil {
		v.Method = e.Made.method()
		by, _, _ := strings.Cut(e.Made.name(), "-") // for a component, the first word is enough
		name = verdict.Say("%s of %s", name, verdict.Kept(by))
	}
	switch {
	case e.Undo == "":
	case e.Undone == nil:
		v.Breaks = verdict.Undone
		name = verdict.Say("%s, without %s", name, verdict.Kept(e.Undo))
	default:
		name = verdict.Say("%s, in spite of %s", name, verdict.Kept(e.Undo))
		if v.Code = e.Undone.Event.Code; v.Code != "" && e.Undone.Event.Injected != "" {
			v.Breaks = verdict.AskedAgain
		}
	}
	if at := e.culprit(); at != nil {
		v.Event = at.Seq
	}
	v = v.Worded(name)
	v.Text = string(leftBehind) + ": " + e.String()
	return v
}

// culprit returns the call that should have removed the thing. If that call is missing, it returns
// the event that created the thing.
func (e Entry) culprit() *trace.Event {
	switch {
	case e.Undone != nil:
		return e.Undone.Event
	case e.Made != nil:
		return e.Made.Event
	}
	return nil
}

// SaidToBeGone reports whether the call that should have removed it succeeded.
func (e Entry) SaidToBeGone() bool { return e.Undone != nil && succeeded(e.Undone.Event) }
