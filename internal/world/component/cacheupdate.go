package component

import "github.com/csisim/csisim/internal/world/trace"

// recordCacheUpdate records a late update of the cache. It records those of the cache's n pending
// changes that are older than other events.
func (c *Component) recordCacheUpdate(n int, update trace.CacheUpdate) {
	if c.numbers == nil {
		return
	}
	now := c.Trace.LastAction()
	for revision := range c.Cache.PendingRevisions(n) {
		if number := c.numbers[revision]; number != 0 && number < now {
			update.Changes = append(update.Changes, number)
		}
	}
	if len(update.Changes) > 0 {
		c.Trace.AddState(trace.Entry{Kind: trace.CacheUpdated, Actor: c.unnamed(c.Group.Name), Detail: update})
	}
}
