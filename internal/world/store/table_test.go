package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestARowTakesThePlaceOfTheOneWithItsIDAndARangeIsAPrefix(t *testing.T) {
	var now *table
	for _, id := range []string{"pods/a", "pods/b", "pod/x", "podsets/a"} {
		now = now.with(&row{id: id}, 0)
	}
	kept := now
	now = now.with(&row{id: "pods/a", compact: struct{ Compact }{}}, 1)
	now = now.without(&row{id: "pods/b"}, 1)
	ids := func(t *table) (all []string) {
		for r := range rows(t, "pods/") {
			if r.compact != nil {
				all = append(all, r.id+", anew")
				continue
			}
			all = append(all, r.id)
		}
		return all
	}
	assert.Equal(t, []string{"pods/a", "pods/b"}, ids(kept))
	assert.Equal(t, []string{"pods/a, anew"}, ids(now))
	assert.Nil(t, now.find(&row{id: "pods/b"}))
	for r := range rows(kept, "pod") {
		assert.Equal(t, "pod/x", r.id, "and no further")
		break
	}
}
