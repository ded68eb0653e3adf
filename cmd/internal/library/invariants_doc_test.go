package library_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// blamed maps responsible parties to words.
var blamed = map[verdict.Blame]string{
	verdict.Driver: "the driver", verdict.Kubernetes: "Kubernetes, which may do the same in a real cluster", verdict.Scenario: "neither: the scenario causes it", verdict.Own: "the party that the invariant's author names",
}

func TestTheDocumentListsEachInvariant(t *testing.T) {
	const file = "../docs/reference/invariants.md"
	document, err := os.ReadFile(file)
	require.NoError(t, err)
	head, _, found := strings.Cut(string(document), "| Invariant |")
	require.True(t, found)
	var table strings.Builder
	table.WriteString("| Invariant | Statement | Reason | Source | Responsible |\n| --- | --- | --- | --- | --- |\n")
	for _, in := range verdict.All() {
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", in.Name, in.Holds, in.Reason, strings.Join(in.Rules, "; "), blamed[in.Blame])
	}
	want := head + table.String()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(document), "go test ./cmd/internal/library -run TestTheDocumentListsEachInvariant -update writes it")
}
