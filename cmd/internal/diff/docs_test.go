package diff

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the page")

const page = "../../../docs/reference/diff.md"

// The code generates the page, and the page lists the same tolerances as the code.
func TestThePageShowsEveryTolerance(t *testing.T) {
	want := pageText()
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	is, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, want, string(is), "make golden writes it anew")
}

func TestEveryToleranceHasAReason(t *testing.T) {
	seen := map[Tolerance]bool{}
	for _, rule := range Tolerances {
		assert.NotEmpty(t, rule.Allows, rule.Name)
		assert.NotEmpty(t, rule.Because, rule.Name)
		assert.NotEmpty(t, rule.Levels, rule.Name)
		assert.False(t, seen[rule.Name], "%s stands twice", rule.Name)
		seen[rule.Name] = true
	}
}

// All used tolerances are in the table, and each tolerance in the table is used by some recording.
func TestTheTableIsNeitherTooLongNorTooShort(t *testing.T) {
	used := map[Tolerance]bool{}
	for _, repeat := range names(t, "repeats/") {
		name := strings.TrimPrefix(repeat, "repeats/")
		for tolerance := range Compare(recording(t, name), recording(t, repeat)).Allowed {
			used[tolerance] = true
		}
	}
	// These are used only by simulated traces, by unabridged recordings, or by recordings of kind
	// clusters.
	for _, tolerance := range []Tolerance{Setup, Probe, Capabilities, EventCounts, SchedulerEvents, NotReached, RegistrationRounds, ConflictRepeat, ClaimOrder} {
		used[tolerance] = true
	}
	inTable := map[Tolerance]bool{}
	for _, rule := range Tolerances {
		inTable[rule.Name] = true
		assert.True(t, used[rule.Name], "no recording needs %s", rule.Name)
	}
	for tolerance := range used {
		assert.True(t, inTable[tolerance], "%s is not in the table", tolerance)
	}
}

func pageText() string {
	var out strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	write(`# csisim diff

` + "`csisim diff A B`" + ` lays two traces side by side, prints the first point in which they differ with the events around it, and sums up. The
exit code is 0 if they are equal, 1 if they differ, 2 for bad input. In Go tests it is ` + "`diff.Compare`" + ` of package
` + "`cmd/internal/diff`" + `. This page is made from the code (` + "`make golden`" + `).

## Levels

| Level | What is compared |
| --- | --- |`)
	for _, level := range Levels {
		write("| %s | %s |", level, title[level])
	}
	write(`
Volumes and objects are matched by the part they play: claim name → PersistentVolume → volume id → VolumeAttachment,
pod name → uid. Names that Kubernetes computes (staging directory, VolumeAttachment, inline volume) count as equal only
if each is computed rightly from its own volume id.

## Tolerances

All that two equal traces may differ in. Each use is counted, and the counts are shown.

| Tolerance | Levels | What may differ | Because |
| --- | --- | --- | --- |`)
	for _, rule := range Tolerances {
		write("| %s | %s | %s | %s |", rule.Name, levelNames(rule.Levels), rule.Allows, rule.Because)
	}
	write(`
## Phases

The loops that the tolerance %s stands for. The first line that fits counts.

| Call | After | May be off by | Because it waits for |
| --- | --- | --- | --- |`, WaitGap)
	for _, p := range Phases {
		write("| %s | %s | %s | %s |", orName(p.Method, "any other"), orName(p.After, "anything"), p.Period, p.Because)
	}
	write(`
## Causes

Orders between calls and objects that the control plane keeps. Where one trace keeps one and the other breaks it, the
traces differ, on the level of objects.

| First | Then |
| --- | --- |`)
	for _, c := range causes {
		write("| %s | %s |", c.first, c.then)
	}
	return out.String()
}

func levelNames(levels []Level) string {
	if len(levels) == len(Levels) {
		return "all"
	}
	var all []string
	for _, l := range levels {
		all = append(all, string(l))
	}
	return strings.Join(all, ", ")
}
