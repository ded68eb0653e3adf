package messages

import "github.com/csisim/csisim/internal/incident/lines"

// Own is the weight of a message that does not belong to a call; messages of calls have weight 1.
const Own = 1000

// Score returns how many of the lines the program prints. Many programs print calls alike.
func (t *Table) Score(held []lines.Record) (score int) {
	for i := range held {
		f, ok := t.Match(held[i].Message, held[i].Values)
		switch {
		case !ok, f.Means.IsConnection():
		case f.Means.IsCall():
			score++
		default:
			score += Own
		}
	}
	return score
}
