package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/verdict"
)

func TestEachInvariantSaysWhyAndWhere(t *testing.T) {
	names := map[verdict.Key]bool{}
	for _, in := range verdict.All() {
		assert.False(t, names[in.Name], in.Name)
		names[in.Name] = true
		assert.Same(t, in, in.Name.Invariant())
		assert.NotEmpty(t, in.Holds, in.Name)
		assert.NotEmpty(t, in.Reason, in.Name)
		assert.NotEmpty(t, in.Rules, in.Name)
	}
}

// Given a verdict with parts that belong to one run, then its name has an ellipsis in their place.
func TestNameLeavesOutThePartsOfOneRun(t *testing.T) {
	for _, test := range []struct {
		is         verdict.Sentence
		text, name string
	}{
		{verdict.Say("%s is not idempotent: volume %s, then %s", verdict.Kept("CreateVolume"), "v1", "v2"),
			"CreateVolume is not idempotent: volume v1, then v2", "CreateVolume is not idempotent: volume … then …"},
		{verdict.Say("%d mounted still: %s", 1, verdict.Quoted("of /mock/a/pvc-1 at /var/lib/kubelet/mount")),
			"1 mounted still: of /mock/a/pvc-1 at /var/lib/kubelet/mount", "… mounted still: of … at …"},
		{verdict.Say("%s", verdict.Quoted("pod default/web does not find its data on node-b, found an empty directory")),
			"pod default/web does not find its data on node-b, found an empty directory", "pod … does not find its data on …, found an empty directory"},
		{verdict.Say("%v, then %v", verdict.Kept("OK"), verdict.Kept("Internal")).Aside(" (%s)", "disk /dev/x"),
			"OK, then Internal (disk /dev/x)", "OK, then Internal"},
	} {
		v := verdict.Verdict{}.Worded(test.is)
		assert.Equal(t, test.text, v.Text)
		assert.Equal(t, test.name, v.Name)
	}
}

// Given an error text that quotes sentences of verdicts, then it breaks no invariant.
func TestPlainTextBreaksNoInvariant(t *testing.T) {
	for _, text := range []string{
		"left behind: mount /x, which never came", "CreateVolume is not idempotent: x", "data lost: nothing", "timed out waiting",
	} {
		v := verdict.Plain(text)
		assert.Empty(t, v.Breaks)
		assert.Equal(t, verdict.Scenario, v.Blame())
	}
}
