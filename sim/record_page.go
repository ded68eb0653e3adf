package sim

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/sim/expect"
)

var reportDir = flag.String("csisim.report", "", "write a report for a browser of each failed test's clusters to `DIR`")

// writePage writes the report of a failed test, and returns the file's name.
func (r *record) writePage(test string) (string, error) {
	path, err := placeOf(*reportDir, test, ".html")
	if err != nil {
		return "", err
	}
	page := r.page.Recorded(test, nil)
	page.Verdict, page.Replay = "failed", again(test)
	page.Facts = append(page.Facts, [2]string{"Versions", r.made.String()})
	if len(r.failures) > 0 {
		page.Findings = findings(r.failures)
		r.page.Explain(&page)
	}
	chunks, err := r.page.Chunks()
	if err != nil {
		return "", err
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return path, view.Write(file, page, chunks)
}

// findings returns failures as a report shows them. Breaches of the CSI spec come first, because
// they may explain other failures.
func findings(failures []*expect.Failure) []view.Finding {
	var found []view.Finding
	for _, f := range failures {
		shown := view.Finding{Verdict: f.Verdict.Text, Judged: f.Verdict, Expected: f.Expected, Got: f.Got, Hint: f.Hint, Spec: f.Spec}
		for _, e := range f.Trail {
			shown.Trail = append(shown.Trail, e.Seq)
		}
		if f.About != nil {
			shown.About = f.About.Seq
		}
		found = append(found, shown)
	}
	breaches := func(f view.Finding) int { return min(len(f.Spec), 1) }
	slices.SortStableFunc(found, func(a, b view.Finding) int { return breaches(b) - breaches(a) })
	return found
}

// again returns the command that runs a test again, from its module.
func again(test string) string {
	of := "."
	if info, known := debug.ReadBuildInfo(); known && info.Path != "" {
		of = strings.TrimSuffix(info.Path, ".test")
	}
	parts := strings.Split(test, "/")
	for i, name := range parts {
		parts[i] = "^" + name + "$"
	}
	return "go test " + of + " -run '" + strings.Join(parts, "/") + "'"
}
