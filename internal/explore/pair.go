package explore

// nearness is how many calls after the first of two faults the second comes at most, but for one that
// befalls the same call made again.
const nearness = 4

// pair draws two faults at calls: the second befalls the call that is made again, or one of those that
// come next. It is nil if no fault can happen.
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

// drawn is a fault at a point.
func drawn(c chance, p point) Choice {
	p.Takes = p.Alternatives[1+c.below(len(p.Alternatives)-1)]
	return p.Choice
}
