package construction

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// selection matches the tests that a target selects: quoted, or one word.
	selection = regexp.MustCompile(`(?:-run|RACE_UP :=) '?\^?([\w|]+)`)
	testName  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// A test that gets another name must not drop out of make nightly.
func TestTheTargetsSelectTestsThatExist(t *testing.T) {
	var names []string
	for _, file := range list(t, "*_test.go") {
		text, err := os.ReadFile("../../" + file)
		require.NoError(t, err)
		for _, found := range testName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	selected := selection.FindAllStringSubmatch(string(makefile), -1)
	require.Greater(t, len(selected), 10)
	for _, s := range selected {
		for word := range strings.SplitSeq(s[1], "|") {
			exists := slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, word) })
			assert.True(t, exists, "no test has the name %s", word)
		}
	}
}
