package view

import "github.com/csisim/csisim/internal/world/trace"

// Explain completes the findings of a report like an encoder, from the events of its run, without
// making a page.
func Explain(r *Report, events []*trace.Event) error {
	x := newReading()
	var lines lineReader
	var run trace.Lines
	for _, e := range events {
		line, err := run.Of(e)
		if err != nil {
			return err
		}
		raw, err := line.Text()
		if err != nil {
			return err
		}
		var f facts
		if err := lines.facts(raw, &f); err != nil {
			return err
		}
		if !f.K.IsState() {
			x.add(&f)
			x.rows = x.rows[:0] // for pages
		}
	}
	x.Explain(r)
	return nil
}
