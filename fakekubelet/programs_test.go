package fakekubelet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The first restart is immediate. The next delays double from 10 s up to 5 min. After ten minutes
// without an exit they start from the beginning.
func TestCrashLoopBackOff(t *testing.T) {
	var loop crashLoop
	now := time.Hour
	var waits []time.Duration
	for range 8 {
		wait := loop.wait(now)
		waits = append(waits, wait)
		loop.next(now+wait, now)
		now += wait + time.Second // the container runs for a second
	}
	s := time.Second
	assert.Equal(t, []time.Duration{0, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 300 * s, 300 * s}, waits)
	assert.Zero(t, loop.wait(now+11*time.Minute))
}

func TestVariablesAreExpanded(t *testing.T) {
	env := variables{"NAME": "web", "EMPTY": ""}
	for text, want := range map[string]string{
		"$(NAME).svc": "web.svc", "a$(EMPTY)b": "ab", "$(OTHER)": "$(OTHER)", "$$(NAME)": "$(NAME)", "$$$(NAME)": "$web",
		"$NAME": "$NAME", "$(NAME": "$(NAME", "100$": "100$", "$(": "$(", "$(NAME)$(NAME)": "webweb",
	} {
		assert.Equal(t, want, expand(text, env), text)
	}
}
