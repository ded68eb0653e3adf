package store

// Toucher takes notice of what is read and written of the newest state, who watches what, and which caches have news. What a cache that
// lags shows is its component's own.
type Toucher interface {
	// Reads commutes with Reads, Adds with Adds, Changes with nothing.
	Reads(what string)
	Adds(what string)
	Changes(what string)
}

// Follow has a Toucher take notice.
func (s *Store) Follow(t Toucher) { s.head.toucher = t }

// touchObject is that one object is read.
func (h *head) touchObject(res *Resource, key Key) {
	if h.toucher != nil {
		h.toucher.Reads(res.prefix + key.String())
	}
}

// touchList is that objects are listed.
func (h *head) touchList(res *Resource) {
	if h.toucher != nil {
		h.toucher.Reads(res.prefix)
	}
}

// touchWatches is that a watch is opened or closed: commits reach watches in the order in which these were opened.
func (h *head) touchWatches(res *Resource) {
	if h.toucher != nil {
		h.toucher.Changes(watchesOf(res))
	}
}

func watchesOf(res *Resource) string { return "watches of " + res.prefix }

// touchCommit is that an object is written.
func (h *head) touchCommit(c *commit) {
	if h.toucher == nil {
		return
	}
	h.toucher.Changes(c.Resource.prefix + c.Key.String())
	h.toucher.Adds(c.Resource.prefix)
	h.toucher.Reads(watchesOf(c.Resource))
	if c.Old == nil && c.Resource.GVR.Resource != "events" {
		h.toucher.Changes("uids") // they count up, and names that have them are sorted
	}
}

// touchNews is that a cache gets news, or looks whether it has: they have an order.
func (v *View) touchNews() {
	if t := v.store.head.toucher; t != nil {
		t.Changes("news of " + v.name)
	}
}
