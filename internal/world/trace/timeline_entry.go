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
	text    string // what happened
	outcome string // what came of it
	because string // the line of its cause, unless it is the line above
	fold    string // how it is shown among others in one line; empty if it has a line of its own
	hidden  bool
	weight
}

// narrator finds the words for events. It knows names from the events so far.
type narrator struct {
	names   *names
	verbose bool
	driver  string // the first that was called; calls of others name theirs
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

// words describes an event by its line. before is the object before its change, in the form of lines. The patch of the
// line is used up.
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

// fail says what went wrong; nothing did if why is empty.
func (shown *entry) fail(why string) {
	if why != "" {
		shown.outcome = "✗ " + why
	}
}

// foldAs lets an event without trouble share its line with others.
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

// anything describes what has no words of its own: what it is about, in what it says.
func (t *narrator) anything(e *Event, line Line) string {
	parts := []string{e.Method, t.names.in(t.names.key(e.Name)), t.names.in(e.Message)}
	if t.verbose && line.Obj != nil {
		parts = append(parts, compact(line.Obj))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// registration is what a kubelet asked a registrar, or what a registrar does.
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
