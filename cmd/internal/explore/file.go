package explore

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/strict"
)

// File is a finding and all that the run that shows it takes.
type File struct {
	APIVersion string       `json:"apiVersion" want:"required" enum:"csisim.dev/v1alpha1" doc:"The version of the format."`
	Kind       string       `json:"kind" want:"required" enum:"Replay" doc:"Always Replay."`
	Scenario   string       `json:"scenario" want:"required" doc:"The scenario's file, relative to this one."`
	Digest     string       `json:"digest" want:"required" doc:"SHA-256 of the scenario's text when the finding was made."`
	Finding    string       `json:"finding" want:"required" doc:"What is wrong, in the words that are the same in every run."`
	Verdict    string       `json:"verdict,omitempty" doc:"How the run shows it."`
	Found      string       `json:"found,omitempty" doc:"The run that showed it."`
	Faults     []fault.Kind `json:"faults,omitempty" doc:"The kinds of faults that may happen."`
	Budget     int          `json:"budget,omitempty" doc:"How many faults may happen."`
	Choices    []Choice     `json:"choices,omitempty" doc:"The decisions that are not the calm ones."`
}

// Extension is how the names of such files end.
const Extension = ".csisim.yaml"

// Digest is that of a scenario's text.
func Digest(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }

// Space is the fault space of the run.
func (f *File) Space() fault.Space { return fault.Space{Kinds: f.Faults, Budget: f.Budget} }

// FileOf is a finding of a search, to be written into a directory.
func (s *Search) FileOf(f *Finding, dir string) (*File, error) {
	path, err := relative(dir, s.file)
	if err != nil {
		return nil, err
	}
	file := &File{
		APIVersion: "csisim.dev/v1alpha1", Kind: "Replay", Scenario: path, Digest: Digest(s.text),
		Finding: f.Name, Verdict: f.Verdict, Found: f.Found, Choices: f.Choices,
	}
	if slices.ContainsFunc(f.Choices, Choice.isFault) {
		file.Faults, file.Budget = s.options.Space.Kinds, s.options.Space.Budget
	}
	return file, nil
}

// relative is the way from a directory to a file.
func relative(dir, file string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(from, to)
	return filepath.ToSlash(path), err
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// longestName bounds the part of a file's name that the finding gives.
const longestName = 60

// NameOf is the name of the file of a finding.
func (s *Search) NameOf(f *Finding) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(f.Name), "-"), "-")
	if len(name) > longestName {
		name = strings.TrimRight(name[:longestName], "-")
	}
	return s.subject.scenario.Name + "-" + name + Extension
}

// Text is the file as it is written.
func (f *File) Text() ([]byte, error) {
	text, err := yaml.Marshal(f)
	return append([]byte("# csisim replay makes this run again.\n"), text...), err
}

// Load reads a file that explore has written, and perhaps somebody has changed.
func Load(name string) (*File, error) {
	text, err := strict.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read replay: %w", err)
	}
	f := &File{}
	document, problems := strict.Decode(name, text, f)
	if document == nil || len(problems) > 0 {
		return nil, problems
	}
	for i, k := range f.Faults {
		if !slices.Contains(fault.Kinds(), k) {
			document.ReportUnknown(strict.Index("faults", i), fmt.Sprintf("fault %q", k), string(k), "one of "+KindNames(), words())
		}
	}
	for i, c := range f.Choices {
		if c.Nth < 1 {
			document.Report(strict.Key(strict.Index("choices", i), "nth"), fmt.Sprint(c.Nth), "a number from 1")
		}
	}
	if problems := document.Problems(); len(problems) > 0 {
		return nil, problems
	}
	return f, nil
}

// KindNames lists the kinds of faults.
func KindNames() string { return strings.Join(words(), ", ") }

func words() []string {
	var all []string
	for _, k := range fault.Kinds() {
		all = append(all, string(k))
	}
	return all
}
