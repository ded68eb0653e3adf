package index

import (
	"fmt"
	"io"
	"strings"

	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
)

// maxListed is the greatest number of findings and of runs in a summary. CI systems show only its
// first mebibyte.
const maxListed = 50

// Markdown writes the page as a summary for a pull request or a CI system: a table of findings,
// the commands that replay them, and a table of groups.
func (x Page) Markdown(w io.Writer) error {
	var b strings.Builder
	verdict := "✅"
	switch {
	case x.Failed:
		verdict = "❌"
	case x.Interrupted || x.Count(NotTried) > 0:
		verdict = "⚠️"
	}
	fmt.Fprintf(&b, "## %s %s\n\n%s\n", verdict, Cell(x.Title), Cell(x.Summary))
	if x.Interrupted {
		b.WriteString("\nInterrupted: the runs up to then are listed.\n")
	}
	x.findings(&b)
	x.untried(&b)
	x.groups(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (x Page) findings(b *strings.Builder) {
	if len(x.Findings) == 0 {
		return
	}
	b.WriteString("\n| Harm | Finding | Runs |\n| --- | --- | ---: |\n")
	listed := x.Findings[:min(len(x.Findings), maxListed)]
	for _, f := range listed {
		harm, name := Cell(f.Harm), "**"+Cell(f.Name)+"**"
		if f.Known {
			harm = "known"
		}
		if f.Detail != "" {
			name += "<br>" + Cell(f.Detail)
		}
		fmt.Fprintf(b, "| %s | %s | %d |\n", harm, name, f.Runs)
	}
	if more := len(x.Findings) - len(listed); more > 0 {
		fmt.Fprintf(b, "\n%s more.\n", plural.Of(more, "finding"))
	}
	b.WriteString("\n<details><summary>Replay</summary>\n\n```sh\n")
	for _, f := range listed {
		if f.Replay != "" {
			fmt.Fprintf(b, "# %s\n%s\n", oneLine(f.Name), strings.ReplaceAll(f.Replay, "\n", " "))
		}
	}
	b.WriteString("```\n\n</details>\n")
}

// untried lists the runs that were not made, by reason.
func (x Page) untried(b *strings.Builder) {
	var reasons []string
	runs := map[string][]string{}
	for _, g := range x.Groups {
		for _, r := range g.Runs {
			if r.State != NotTried {
				continue
			}
			if runs[r.Why] == nil {
				reasons = append(reasons, r.Why)
			}
			runs[r.Why] = append(runs[r.Why], r.Name)
		}
	}
	if len(reasons) > 0 {
		b.WriteString("\nNot tried:\n\n")
	}
	for _, why := range reasons {
		names := strings.Join(runs[why][:min(len(runs[why]), maxListed)], ", ")
		fmt.Fprintf(b, "- %s: %s\n", Cell(why), Cell(names))
	}
}

func (x Page) groups(b *strings.Builder) {
	b.WriteString("\n| Group | Passed | Failed | Known | Not tried |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, g := range x.Groups {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", Cell(g.Title), g.Count(Passed), g.Count(Failed), g.Count(Known), g.Count(NotTried))
	}
}

// Cell returns a text for a table or a sentence. Markdown shows each of its characters literally.
func Cell(s string) string {
	return escaper.Replace(oneLine(s))
}

var escaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "@", "&#64;")

func oneLine(s string) string {
	return strings.Join(strings.Fields(excerpt.Words(s)), " ")
}
