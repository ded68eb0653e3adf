package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPagesHaveWhatIsListedAtOnce(t *testing.T) {
	for _, c := range []struct {
		name                 string
		before, paged, after []string
		wrong                string
	}{
		{"all of it", []string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"}, ""},
		{"what came meanwhile, or went, in one of them", []string{"a", "b"}, []string{"a"}, []string{"a", "c"}, ""},
		{"one is missing", []string{"a", "b"}, []string{"a"}, []string{"a", "b"}, "ListVolumes leaves out on its pages what it lists at once: b is on no page of max_entries 1"},
		{"one comes twice", []string{"a", "b"}, []string{"a", "b", "b"}, []string{"a", "b"}, "ListVolumes lists something on two pages: b is on 2 pages of max_entries 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := CheckPages("Controller/ListVolumes", c.before, c.paged, c.after, 1)
			if c.wrong == "" {
				assert.Empty(t, found)
				return
			}
			assert.Equal(t, c.wrong, found[0].String())
		})
	}
}
