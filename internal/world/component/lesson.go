package component

import "github.com/csisim/csisim/internal/world/trace"

// recordLesson records which changes the cache learns of only now, of the n that it did not show, if anything but
// them has happened since.
func (c *Component) recordLesson(n int, lesson trace.Lesson) {
	if c.numbers == nil {
		return
	}
	now := c.Trace.LastDeed()
	for revision := range c.Cache.PendingRevisions(n) {
		if number := c.numbers[revision]; number != 0 && number < now {
			lesson.Changes = append(lesson.Changes, number)
		}
	}
	if len(lesson.Changes) > 0 {
		c.Trace.AddState(trace.Entry{Kind: trace.Learned, Actor: c.unnamed(c.Group.Name), Detail: lesson})
	}
}
