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
func (t *Narrator) Describe(e *Event) Words {
	shown := t.narrator.describe(e)
	return Words{shown.lane, shown.text, shown.outcome, tones[max(shown.tone, shown.ended)], shown.hidden || shown.fold != "" || shown.tone == quiet}
}
