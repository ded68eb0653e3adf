package store

import (
	"strconv"
)

// Commit is one write. Old is nil when the object was created, New when it was removed.
type Commit struct {
	Revision uint64
	Resource *Resource
	Key      Key
	Old, New Object
}

// commit is a Commit that is being delivered to watches.
type commit struct {
	Commit
	final Object
	// relisted means that the commit is the difference between two lists, not a write.
	relisted bool
}

// move is the effect of a commit on one index: the old and the new values of the object.
type move struct {
	index    *resourceIndex
	old, now []string
}

// last returns the old object with the resource version of this commit, for watches of a removed
// object.
func (c *commit) last() Object {
	if c.relisted {
		return c.Old
	}
	if c.final == nil {
		c.final = shallowCopy(c.Old)
		c.final.SetResourceVersion(strconv.FormatUint(c.Revision, 10))
	}
	return c.final
}

// Last returns the object's final state with the resource version of its removal.
func (c Commit) Last() Object {
	return (&commit{Commit: c}).last()
}

// OnCommit calls observe after every commit, in order and before any view shows the commit. observe
// must not write to the store.
func (s *Store) OnCommit(observe func(Commit)) {
	s.observers = append(s.observers, observe)
}

// Commit makes the new state the head, in one transaction, and delivers it to all watches. All
// writes end here. The API server's own steps call it directly, because no rules apply to them. It
// takes ownership of obj, which is nil for a removal. old is the stored object.
func (s *Store) Commit(res *Resource, key Key, old, obj Object) {
	revision := s.head.revision + 1
	if obj != nil {
		if res.Share != nil {
			res.Share(&s.shared, obj, old == nil)
		}
		obj.SetResourceVersion(strconv.FormatUint(revision, 10))
	}
	c := &commit{
		Commit: Commit{Revision: revision, Resource: res, Key: key, Old: old, New: obj},
	}
	moves := s.sheet.moves(res, old, obj)
	if s.versioned {
		s.happen(c)
	}
	if s.options.History > 0 {
		s.remember(s.Snapshot())
	}
	s.head.touchCommit(c)
	s.head.apply(c, moves)
	if res.TTL > 0 && obj != nil {
		s.grant(res, key, revision)
	}
	s.latest = c
	if s.guard != nil {
		s.guard.remember(res, key, obj)
	}
	for _, observe := range s.observers {
		observe(c.Commit)
	}
	s.subscribers.of(c.Resource).dispatch(c, moves)
}

// must panics on errors that only a bug in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
