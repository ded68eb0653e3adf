package sim

import (
	"flag"
	"os"

	"github.com/csisim/csisim/internal/view"
)

var reportDir = flag.String("csisim.report", "", "write a report for a browser of each failed test's clusters to `DIR`")

// writePage writes the report of a failed test, and returns the file's name.
func (r *record) writePage(test string) (string, error) {
	path, err := placeOf(*reportDir, test, ".html")
	if err != nil {
		return "", err
	}
	page := r.page.Recorded(test, nil)
	page.Verdict = "failed"
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
