package trace

// Narrator describes single events in the words of a timeline. It takes names from earlier events,
// which it must receive in order.
type Narrator struct{ narrator *narrator }

// NewNarrator starts with the names of pods by uid, each namespace/name, and adds the names from
// later events.
func NewNarrator(pods map[string]string) *Narrator {
	t := newNarrator(false)
	t.names.pods = pods
	return &Narrator{t}
}

// Called notes that a driver was called. Calls of the first driver omit its name.
func (t *Narrator) Called(driver string) { t.narrator.called(driver) }

// Words describe an event.
type Words struct {
	Text    string // the event itself
	Outcome string // its result
}

// DescribeLine describes a line of a trace. before is the line's object before the change, in the
// form of lines; nil if there was none. It modifies the line.
func (t *Narrator) DescribeLine(l Line, before map[string]any) Words {
	shown := t.narrator.words(l.event(), l, before)
	return Words{shown.text, shown.outcome}
}

// Short shortens the ids and paths of a text as in the descriptions of events.
func (t *Narrator) Short(text string) string { return t.narrator.names.in(text) }

// LaneOf returns the lane of a line: the component that acted.
func LaneOf(l *Line) string {
	return laneOf(&Event{Site: &Site{Cluster: l.Cluster, Kind: l.K, Actor: l.From, Node: l.Node}})
}

// Glance returns the tone of a line ("", "quiet", "strong", "warning" or "failure"), and whether a
// timeline hides the line or folds it with others. It reads a request only to find a registrar's
// error.
func Glance(l *Line) (tone string, isQuiet bool) {
	w := weigh(l)
	saysNothing := l.K == API && l.Ev == "MODIFIED" && len(l.Patch) == 0
	return tones[max(w.tone, w.ended)], saysNothing || w.folds || w.tone == quiet && w.ended < warning
}

var tones = map[tone]string{quiet: "quiet", strong: "strong", warning: "warning", failure: "failure"}
