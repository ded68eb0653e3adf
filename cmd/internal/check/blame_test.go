package check

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// Given a finding, then the driver alone is to blame for its answers, its exits and its leaks.
func TestBlameFollowsFromTheInvariant(t *testing.T) {
	for _, c := range []struct {
		breaks verdict.Key
		rank   verdict.Rank
		alone  bool
	}{
		{verdict.Idempotent, verdict.Breach, true},
		{verdict.Answers, verdict.Refuses, false},
		{verdict.Alive, verdict.Dies, true},
		{verdict.LeftBehind, verdict.Leaks, true},
		{verdict.Undone, verdict.Leaks, false},
		{verdict.Progress, verdict.Waits, false},
		{verdict.Data, verdict.Spoils, false},
		{"", verdict.Spoils, false},
	} {
		f := Finding{Verdict: verdict.Verdict{Breaks: c.breaks}, rank: c.rank}
		assert.Equal(t, c.alone, f.IsOfDriverAlone(), c.breaks)
	}
}
