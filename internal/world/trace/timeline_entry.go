package trace

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// entry is one event in words.
type entry struct {
	lane    string
	text    string // the event itself
	outcome string // its result
	because string // the line of its cause, unless that is the previous line
	fold    string // its text in a shared line; empty if it has its own line
	hidden  bool
	weight
}

// narrator describes events. It takes names from earlier events.
type narrator struct {
	names   *names
	verbose bool
	driver  string // the first called driver; calls to others contain their names
}

func newNarrator(verbose bool) *narrator {
	return &narrator{names: newNames(verbose), verbose: verbose}
}

func (t *narrator) describe(e *Event) entry {
	line, err := e.Line()
	var before map[string]any
	if err == nil && e.Kind == API && e.Change == "MODIFIED" {
		before, err = Pruned(e.Resource, e.Old)
	}
	if err != nil {
		return entry{lane: laneOf(e), text: err.Error(), weight: weight{tone: failure}}
	}
	return t.words(e, line, before)
}

// words describes an event, given its line. before is the object before its change, in the form of
// lines. It modifies the patch of the line.
func (t *narrator) words(e *Event, line Line, before map[string]any) entry {
	shown := entry{lane: laneOf(e), weight: weigh(&line)}
	switch e.Kind {
	case Call:
		t.call(&shown, line)
	case API:
		t.change(&shown, e, line, before)
	case KubeEvent:
		t.kubeEvent(&shown, e)
	case Step:
		shown.text = t.names.in(e.Message)
	case FileChange:
		shown.text = strings.TrimSpace(e.Method + " " + t.names.in(e.Name))
		shown.fail(t.failure(e))
		shown.foldAs(shown.text)
	case SystemCall:
		shown.text = strings.TrimSpace(e.Method + " " + t.names.in(e.Name+" "+e.Message))
		if e.Injected != "" {
			shown.fail("FAULT: " + e.Injected)
		}
	case Request:
		shown.text = e.Method + " " + e.Name + " → " + e.Message
		if e.Injected != "" {
			shown.fail("FAULT: " + e.Injected)
		}
	case FaultFired:
		shown.text = "FAULT " + t.anything(e, line)
	case Violation:
		shown.text = "VIOLATION of the CSI spec: " + t.names.in(e.Message)
	case Remark:
		shown.text = "note: " + t.names.in(e.Message)
	case AnswerLost:
		shown.text = "the caller never gets the answer of " + t.names.in(e.Message)
	case DataLost:
		shown.text = "DATA " + t.names.in(e.Message)
	case Unmounted:
		shown.text = "UNMOUNTED " + t.names.in(e.Message)
	case Died:
		shown.text = "DIED " + t.names.in(e.Message)
	case ChoiceMade:
		shown.text = "chose " + t.anything(e, line)
		shown.hidden = !t.verbose // thousands under a random strategy
	case Files:
		shown.text = t.listing(line)
	case Log:
		shown.text = t.names.in(e.Message)
		shown.fail(e.Code)
	case Registration:
		shown.text = t.registration(e)
		shown.fail(t.failure(e))
		if shown.outcome == "" {
			shown.fail(t.names.in(fields(line.Req).text("error")))
		}
	case Runtime:
		shown.text = "container runtime: " + t.anything(e, line)
		shown.fail(e.Code)
		shown.foldAs(t.anything(e, line))
	default:
		shown.text = t.anything(e, line)
		shown.fail(e.Code)
	}
	return shown
}

// fail sets the failure as the outcome, if why is not empty.
func (shown *entry) fail(why string) {
	if why != "" {
		shown.outcome = "✗ " + why
	}
}

// foldAs permits an event without a failure to share its line with others.
func (shown *entry) foldAs(what string) {
	if shown.folds {
		shown.fold = what
	}
}

func (t *narrator) failure(e *Event) string {
	if e.Code == "" {
		return t.names.in(e.Message)
	}
	return strings.TrimSuffix(e.Code+": "+t.names.in(e.Message), ": ")
}

func (t *narrator) kubeEvent(shown *entry, e *Event) {
	kind, name, _ := strings.Cut(e.Name, "/")
	object := t.names.object(strings.ToLower(kind)+"s", name)
	said := t.names.in(strings.TrimSpace(e.Message))
	if e.Resource == "Warning" {
		shown.text = fmt.Sprintf("! event %s: %s: %s", object, e.Method, said)
	} else {
		shown.text = fmt.Sprintf("event %s: %s: %s", object, e.Method, t.names.cut(said))
	}
	if e.Count() > 1 {
		shown.outcome = fmt.Sprintf("(%d times)", e.Count())
	}
}

// anything describes events without a specific description, by their method, name and message.
func (t *narrator) anything(e *Event, line Line) string {
	parts := []string{e.Method, t.names.in(t.names.key(e.Name)), t.names.in(e.Message)}
	if t.verbose && line.Obj != nil {
		parts = append(parts, compact(line.Obj))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// registration describes a kubelet's call of a registrar, or an action of a registrar.
func (t *narrator) registration(e *Event) string {
	text := "⇄ registration: " + path.Base(e.Method)
	if e.Name != "" && t.verbose {
		text += " at " + e.Name
	} else if e.Name != "" {
		text += " at " + shortPath(e.Name, 1)
	}
	return text
}

func (t *narrator) listing(line Line) string {
	text := "files " + line.Msg
	entries := texts(line.Obj)
	if entries == nil {
		return text
	}
	if t.verbose {
		return text + ": " + strings.Join(entries, ", ")
	}
	return fmt.Sprintf("%s: %d entries", text, len(entries))
}
