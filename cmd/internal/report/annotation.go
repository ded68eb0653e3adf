package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/trace"
)

// annotate attaches a message to its line in a pull request, or to the top if the file does not
// exist.
func (p *Printer) annotate(file string, line int, title, message string) {
	if p.o.Workspace == "" {
		return
	}
	if !p.o.Exists(file) {
		file, line = "", 0
	}
	p.write(trace.Visible(Annotation(p.o.Workspace, file, line, 0, title, excerpt.Words(message))))
}

// gist is the text of an annotation for a failure.
func gist(f scenario.Failure) string {
	text := f.Verdict.Text
	if f.Expected != "" {
		text += "\nexpected " + f.Expected
	}
	if f.Got != "" {
		text += "\ngot " + f.Got
	}
	return text
}

// Annotation returns the workflow command for an error at a place of a file. Line and column are 0
// if unknown, and the file is empty if there is none. The path is relative to the workspace.
func Annotation(workspace, file string, line, column int, title, message string) string {
	var place []string
	if file != "" {
		place = append(place, "file="+escapeProperty(within(workspace, file)))
	}
	if line > 0 {
		place = append(place, fmt.Sprintf("line=%d", line))
	}
	if column > 0 {
		place = append(place, fmt.Sprintf("col=%d", column))
	}
	if title != "" {
		place = append(place, "title="+escapeProperty(title))
	}
	return fmt.Sprintf("::error %s::%s\n", strings.Join(place, ","), escapeData(message))
}

// within returns the path relative to the workspace; unchanged if it is outside.
func within(workspace, file string) string {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	relative, err := filepath.Rel(workspace, absolute)
	if err != nil || strings.HasPrefix(relative, "..") {
		return file
	}
	return relative
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace
)
