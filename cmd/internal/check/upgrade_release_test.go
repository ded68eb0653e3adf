package check

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A finding belongs to the upgrade if no release shows it alone, and a second run with both
// releases shows it again.
func TestAFindingBelongsToTheReleasesThatShowIt(t *testing.T) {
	const trial = "upgrade/published"
	shown := func(findings ...string) map[string][]string { return map[string][]string{trial: findings} }
	u := &Upgrade{old: shown("old", "each"), new: shown("new", "each"), again: shown("old", "new", "each", "upgrade")}
	for finding, want := range map[string]Release{
		"upgrade": "", "old": OldRelease, "new": NewRelease, "each": EachRelease, "race": UnknownRelease,
	} {
		assert.Equal(t, want, u.releaseOf(trial, finding), finding)
	}
	interrupted := &Upgrade{old: shown(), new: shown()}
	assert.Empty(t, interrupted.releaseOf(trial, "race"), "nothing is known of a second run")
}
