package store

// Toucher observes reads and writes of the newest state, changes of watches, and news of caches. A
// lagging cache belongs only to its component.
type Toucher interface {
	// Reads commutes with Reads, Adds with Adds, Changes with nothing.
	Reads(what string)
	Adds(what string)
	Changes(what string)
}

// Follow sets the Toucher.
func (s *Store) Follow(t Toucher) { s.head.toucher = t }

// touchObject reports the read of one object.
func (h *head) touchObject(res *Resource, key Key) {
	if h.toucher != nil {
		h.toucher.Reads(res.prefix + key.String())
	}
}

// touchList reports a list of objects.
func (h *head) touchList(res *Resource) {
	if h.toucher != nil {
		h.toucher.Reads(res.prefix)
	}
}

// touchWatches reports that a watch is opened or closed, because commits reach watches in the order
// in which these were opened.
func (h *head) touchWatches(res *Resource) {
	if h.toucher != nil {
		h.toucher.Changes(watchesOf(res))
	}
}

func watchesOf(res *Resource) string { return "watches of " + res.prefix }

// touchCommit reports the write of an object.
func (h *head) touchCommit(c *commit) {
	if h.toucher == nil {
		return
	}
	h.toucher.Changes(c.Resource.prefix + c.Key.String())
	h.toucher.Adds(c.Resource.prefix)
	h.toucher.Reads(watchesOf(c.Resource))
	if c.Old == nil && c.Resource.GVR.Resource != "events" {
		h.toucher.Changes("uids") // uids are counted, and names with a uid are sorted
	}
}

// touchNews reports that commits are delivered to a cache, or that a cache is checked for
// undelivered commits. The order of deliveries and checks matters.
func (v *View) touchNews() {
	if t := v.store.head.toucher; t != nil {
		t.Changes("news of " + v.name)
	}
}
