package index_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/view/index"
)

func markdown(t *testing.T, x index.Page) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, x.Markdown(&b))
	return b.String()
}

// Given runs of each state. When they are summarized, then tables contain findings, replays,
// reasons and groups.
func TestASummaryHasTheFindingsAsATable(t *testing.T) {
	assert.Equal(t, `## ❌ disk.example.com 1.0

1 passed, 2 failed

| Harm | Finding | Runs |
| --- | --- | ---: |
| leak | **NodePublishVolume is not idempotent**<br>1 mount, then 2 | 2 |
| known | **CreateVolume fails** | 1 |

<details><summary>Replay</summary>

`+"```sh"+`
# NodePublishVolume is not idempotent
csisim check --only repeated/filesystem -- disk
`+"```"+`

</details>

Not tried:

- the driver has no snapshots: snapshot/one, snapshot/two

| Group | Passed | Failed | Known | Not tried |
| --- | ---: | ---: | ---: | ---: |
| Repeated calls | 1 | 2 | 0 | 0 |
| Snapshots | 0 | 0 | 0 | 2 |
`, markdown(t, index.Page{
		Title: "disk.example.com 1.0", Summary: "1 passed, 2 failed", Failed: true,
		Findings: []index.Finding{
			{Name: "NodePublishVolume is not idempotent", Detail: "1 mount, then 2", Harm: "leak", Runs: 2, Replay: "csisim check --only repeated/filesystem -- disk"},
			{Name: "CreateVolume fails", Harm: "stuck", Runs: 1, Known: true},
		},
		Groups: []index.Group{
			{Title: "Repeated calls", Runs: []index.Run{{State: index.Passed}, {State: index.Failed}, {State: index.Failed}}},
			{Title: "Snapshots", Runs: []index.Run{
				{Name: "snapshot/one", State: index.NotTried, Why: "the driver has no snapshots"},
				{Name: "snapshot/two", State: index.NotTried, Why: "the driver has no snapshots"},
			}},
		},
	}))
}

// A driver chooses the text of its errors. No part of it becomes markup, a mention or another row.
func TestASummaryShowsTextOfADriverUnchanged(t *testing.T) {
	got := markdown(t, index.Page{Findings: []index.Finding{{Name: "a|b\n| c | `x` <img src=x> [l](http://h) @team **b** &amp;"}}})
	assert.Contains(t, got, "|  | **a\\|b \\| c \\| \\`x\\` &lt;img src=x&gt; \\[l\\](http://h) &#64;team \\*\\*b\\*\\* &amp;amp;** | 0 |\n")
}

func TestASummaryNamesTheOmittedParts(t *testing.T) {
	got := markdown(t, index.Page{Findings: make([]index.Finding, 53)})
	assert.Equal(t, 50, strings.Count(got, "|  | **** | 0 |"))
	assert.Contains(t, got, "\n3 findings more.\n")
}

func TestASummaryOfUntriedRunsIsAWarning(t *testing.T) {
	got := markdown(t, index.Page{Title: "disk", Groups: []index.Group{{Runs: []index.Run{{State: index.NotTried}}}}})
	assert.Contains(t, got, "## ⚠️ disk\n")
}
