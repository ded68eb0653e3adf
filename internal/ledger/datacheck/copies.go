package datacheck

// Copy is an attempt to make a volume out of another, or a snapshot of one. A driver
// may have done it although the attempt failed, and answer the next one with that.
type Copy struct {
	Name string // that the driver was asked for, the same in each attempt
	From Volume
}

// origin is what a copy was made of: content of a volume, of one of some generations.
// The zero origin is content that is not known.
type origin struct {
	volume         string
	oldest, newest int
	mayBeEmpty     bool // of a copy that nobody knows to be complete
}

func (o origin) isKnown() bool { return o.oldest > 0 }

// Attempted takes notice of an attempt, whatever became of it. What the source has in
// it at that time may be what the copy has.
func (c *Check) Attempted(copied Copy) {
	now := c.contentOf(copied.From)
	before, again := c.attempts[copied]
	if again && (!before.isKnown() || before.volume != now.volume) {
		now = origin{}
	}
	if again && now.isKnown() {
		now.oldest = before.oldest
	}
	c.attempts[copied] = now
}

// contentOf is what is known of a volume. Machines in memory copy nothing.
func (c *Check) contentOf(v Volume) origin {
	r, isKnown := c.written[v].Find("")
	if !isKnown {
		return c.copies[v]
	}
	if r.foreign {
		return origin{}
	}
	return origin{volume: r.owner(v), oldest: r.generation, newest: r.generation}
}

// Cloned takes notice of a volume that was made out of another.
func (c *Check) Cloned(v Volume, copied Copy) { c.copies[v] = c.attempts[copied] }

// Snapped takes notice of a snapshot.
func (c *Check) Snapped(snapshot Volume, copied Copy) { c.snapshots[snapshot] = c.attempts[copied] }

// Restored takes notice of a volume that was made out of a snapshot.
func (c *Check) Restored(v, snapshot Volume) { c.copies[v] = c.snapshots[snapshot] }

// has reports whether content is what a copy may have.
func (o origin) has(found content) bool {
	if o.mayBeEmpty && found.empty {
		return true
	}
	return found.problem == "" && found.volume == o.volume && found.generation >= o.oldest && found.generation <= o.newest
}
