package trace

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// telling is one event in words.
type telling struct {
	lane    string
	text    string // what happened
	outcome string // what came of it
	because string // the line of its cause, unless it is the line above
	tone    tone   // of all of it
	ended   tone   // of the outcome, where it is louder
	fold    string // how it is told among others in one line; empty if it has a line of its own
	hidden  bool
}

// teller finds the words for events. It knows names from the events so far.
type teller struct {
	names   *names
	verbose bool
	driver  string // the first that was called; calls of others name theirs
}

func newTeller(verbose bool) *teller { return &teller{names: newNames(verbose), verbose: verbose} }

func (t *teller) tell(e *Event) telling {
	told := telling{lane: laneOf(e)}
	line, err := e.Line()
	if err != nil {
		told.text, told.tone = err.Error(), failure
		return told
	}
	switch e.Kind {
	case Call:
		t.call(&told, line)
	case API:
		t.change(&told, e, line)
	case KubeEvent:
		t.kubeEvent(&told, e)
	case Step:
		told.text, told.tone = t.names.in(e.Message), strong
	case FileChange:
		told.text, told.tone = strings.TrimSpace(e.Method+" "+t.names.in(e.Name)), quiet
		told.fail(t.failure(e))
		told.foldAs(told.text)
	case FaultFired:
		told.text, told.tone = "FAULT "+t.anything(e, line), warning
	case Violation:
		told.text, told.tone = "VIOLATION of the CSI spec: "+t.names.in(e.Message), failure
	case Remark:
		told.text, told.tone = "note: "+t.names.in(e.Message), warning
	case AnswerLost:
		told.text, told.tone = "the caller never gets the answer of "+t.names.in(e.Message), warning
	case DataLost:
		told.text, told.tone = "DATA "+t.names.in(e.Message), failure
	case Unmounted:
		told.text, told.tone = "UNMOUNTED "+t.names.in(e.Message), failure
	case Died:
		told.text, told.tone = "DIED "+t.names.in(e.Message), failure
	case ChoiceMade:
		told.text, told.tone = "chose "+t.anything(e, line), quiet
		told.hidden = !t.verbose // thousands under a random strategy
	case Files:
		told.text, told.tone = t.listing(line), quiet
	case Registration:
		told.text = t.registration(e)
		told.fail(t.failure(e))
		if told.outcome == "" {
			told.fail(t.names.in(fields(line.Req).text("error")))
		}
	case Runtime:
		told.text, told.tone = "container runtime: "+t.anything(e, line), quiet
		told.fail(e.Code)
		told.foldAs(t.anything(e, line))
	default:
		told.text = t.anything(e, line)
		told.fail(e.Code)
	}
	return told
}

// fail marks what went wrong; nothing did if why is empty.
func (told *telling) fail(why string) {
	if why != "" {
		told.outcome, told.ended = "✗ "+why, failure
	}
}

// foldAs lets an event without trouble share its line with others.
func (told *telling) foldAs(what string) {
	if told.ended < warning {
		told.fold = what
	}
}

func (t *teller) failure(e *Event) string {
	if e.Code == "" {
		return t.names.in(e.Message)
	}
	return strings.TrimSuffix(e.Code+": "+t.names.in(e.Message), ": ")
}

func (t *teller) kubeEvent(told *telling, e *Event) {
	kind, name, _ := strings.Cut(e.Name, "/")
	object := t.names.object(strings.ToLower(kind)+"s", name)
	said := t.names.in(strings.TrimSpace(e.Message))
	if e.Resource == "Warning" {
		told.text, told.tone = fmt.Sprintf("! event %s: %s: %s", object, e.Method, said), warning
	} else {
		told.text, told.tone = fmt.Sprintf("event %s: %s: %s", object, e.Method, t.names.cut(said)), quiet
	}
	if e.Count() > 1 {
		told.outcome = fmt.Sprintf("(%d times)", e.Count())
	}
}

// anything tells what has no words of its own: what it is about, in what it says.
func (t *teller) anything(e *Event, line Line) string {
	parts := []string{e.Method, t.names.in(t.names.key(e.Name)), t.names.in(e.Message)}
	if t.verbose && line.Obj != nil {
		parts = append(parts, compact(line.Obj))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// registration is what a kubelet asked a registrar, or what a registrar does.
func (t *teller) registration(e *Event) string {
	text := "⇄ registration: " + path.Base(e.Method)
	if e.Name != "" && t.verbose {
		text += " at " + e.Name
	} else if e.Name != "" {
		text += " at " + shortPath(e.Name, 1)
	}
	return text
}

func (t *teller) listing(line Line) string {
	text := "files " + line.Msg
	entries, ok := line.Obj.([]string)
	if !ok {
		return text
	}
	if t.verbose {
		return text + ": " + strings.Join(entries, ", ")
	}
	return fmt.Sprintf("%s: %d entries", text, len(entries))
}
