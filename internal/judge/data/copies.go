package data

import "time"

// Copy is an attempt to create a volume from another one, or a snapshot of a volume. A driver may
// have created the copy although the attempt failed, and may answer the next attempt with it.
type Copy struct {
	Name string // the requested name, the same in each attempt
	From Volume
}

// origin is the source of a copy: a volume, and the generations of its content that the copy may
// have. The zero origin is unknown content.
type origin struct {
	volume         string
	oldest, newest int
	mayBeEmpty     bool // set for a copy that is not known to be complete
}

func (o origin) isKnown() bool { return o.oldest > 0 }

// attempted records an attempt and its start time, after the attempt has ended with any result. The
// copy may have the source's content. If the source was written meanwhile, the copy may have the
// content before or after the write.
func (c *Check) attempted(copied Copy, began time.Duration) {
	now := c.contentOf(copied.From)
	if r, _ := c.written[copied.From].Find(""); r.since > began {
		now = origin{}
	}
	before, again := c.attempts[copied]
	if again && (!before.isKnown() || before.volume != now.volume) {
		now = origin{}
	}
	if again && now.isKnown() {
		now.oldest = before.oldest
	}
	c.attempts[copied] = now
}

// contentOf returns the known content of a volume. Machines in memory copy nothing.
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

// has reports whether a copy may have this content.
func (o origin) has(found content) bool {
	if o.mayBeEmpty && found.empty {
		return true
	}
	return found.problem == "" && found.volume == o.volume && found.generation >= o.oldest && found.generation <= o.newest
}
