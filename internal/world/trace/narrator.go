package trace

// Narrator puts single events into the words of a timeline. It knows names from the
// events that it was given, in their order.
type Narrator struct{ narrator *narrator }

// NewNarrator knows pods by their uids, namespace/name each, and adds those that it learns of.
func NewNarrator(pods map[string]string) *Narrator {
	t := newNarrator(false)
	t.names.pods = pods
	return &Narrator{t}
}

// Called notes that a driver was called. Calls of the first one go without its name.
func (t *Narrator) Called(driver string) { t.narrator.called(driver) }

// Words are what a timeline says of an event.
type Words struct {
	Text    string // what happened
	Outcome string // what came of it
}

// DescribeLine finds the words for a line of a trace. before is its object before the change, as lines show it; nil if
// there was none. What the line holds is used up.
func (t *Narrator) DescribeLine(l Line, before map[string]any) Words {
	shown := t.narrator.words(l.event(), l, before)
	return Words{shown.text, shown.outcome}
}

// Short is a text with its ids and paths as short as in the words for events.
func (t *Narrator) Short(text string) string { return t.narrator.names.in(text) }

// LaneOf names who did what a line records.
func LaneOf(l *Line) string {
	return laneOf(&Event{Site: &Site{Cluster: l.Cluster, Kind: l.K, Actor: l.From, Node: l.Node}})
}

// Glance is what a timeline shows of a line before anybody reads it: how it should strike the reader, which is "", "quiet",
// "strong", "warning" or "failure", and whether a timeline hides it or shows it among others. Of the request it looks
// at the error that a registrar gets, and nothing else.
func Glance(l *Line) (tone string, isQuiet bool) {
	w := weigh(l)
	saysNothing := l.K == API && l.Ev == "MODIFIED" && len(l.Patch) == 0
	return tones[max(w.tone, w.ended)], saysNothing || w.folds || w.tone == quiet && w.ended < warning
}

var tones = map[tone]string{quiet: "quiet", strong: "strong", warning: "warning", failure: "failure"}
