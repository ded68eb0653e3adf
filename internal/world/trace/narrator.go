package trace

// Narrator puts single events into the words of a timeline. It knows names from the
// events that it was given, in their order.
type Narrator struct{ narrator *narrator }

// NewNarrator knows nothing yet.
func NewNarrator() *Narrator { return &Narrator{newNarrator(false)} }

// Words are what a timeline says of an event.
type Words struct {
	Lane    string // who or where
	Text    string // what happened
	Outcome string // what came of it
	// Tone is how it should strike the reader: "", "quiet", "strong", "warning" or
	// "failure".
	Tone string
	// Quiet says that a timeline hides the event, or shows it among others.
	Quiet bool
}

var tones = map[tone]string{quiet: "quiet", strong: "strong", warning: "warning", failure: "failure"}

// Describe finds the words for an event.
func (t *Narrator) Describe(e *Event) Words { return wordsOf(t.narrator.describe(e)) }

// DescribeLine finds the words for a line of a trace. before is its object before the change, as lines show it; nil if
// there was none. What the line holds is used up.
func (t *Narrator) DescribeLine(l Line, before map[string]any) Words {
	return wordsOf(t.narrator.words(l.event(), l, before))
}

// Short is a text with its ids and paths as short as in the words for events.
func (t *Narrator) Short(text string) string { return t.narrator.names.in(text) }

func wordsOf(shown entry) Words {
	return Words{shown.lane, shown.text, shown.outcome, tones[max(shown.tone, shown.ended)], shown.hidden || shown.fold != "" || shown.tone == quiet}
}
