package trace

// Teller tells single events in the words of a timeline. It knows names from the
// events that it was told of, in their order.
type Teller struct{ teller *teller }

// NewTeller knows nothing yet.
func NewTeller() *Teller { return &Teller{newTeller(false)} }

// Words are what a timeline says of an event.
type Words struct {
	Lane    string // who or where
	Text    string // what happened
	Outcome string // what came of it
	// Tone is how it should strike the reader: "", "quiet", "strong", "warning" or
	// "failure".
	Tone string
	// Quiet says that a timeline hides the event, or tells it among others.
	Quiet bool
}

var tones = map[tone]string{quiet: "quiet", strong: "strong", warning: "warning", failure: "failure"}

// Tell finds the words for an event.
func (t *Teller) Tell(e *Event) Words {
	told := t.teller.tell(e)
	return Words{told.lane, told.text, told.outcome, tones[max(told.tone, told.ended)], told.hidden || told.fold != "" || told.tone == quiet}
}
