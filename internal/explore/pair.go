package explore

// nearness is the largest distance between two faults, in calls. It does not apply if the second
// fault hits the repetition of the same call.
const nearness = 4

// pair chooses two random faults at calls. The second one hits the repetition of the call, or one
// of the next calls. It returns nil if no fault is possible.
func (k known) pair(seed uint64) []Choice {
	if len(k.Calls) == 0 {
		return nil
	}
	c := newChance(seed)
	at := c.below(len(k.Calls))
	first, second := k.Calls[at], k.Calls[at]
	if later := at + 1 + c.below(nearness); later < len(k.Calls) && c.below(2) == 0 {
		second = k.Calls[later]
	} else {
		second.Nth++
	}
	return []Choice{drawn(c, first), drawn(c, second)}
}

// drawn returns a fault at a point.
func drawn(c chance, p point) Choice {
	p.Takes = p.Alternatives[1+c.below(len(p.Alternatives)-1)]
	return p.Choice
}
