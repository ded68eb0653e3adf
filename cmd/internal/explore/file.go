package explore

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// File is a finding with all data to repeat the run that shows it.
type File struct {
	Head

	Kind    string           `json:"kind" want:"required" enum:"Replay" doc:"Always Replay."`
	Finding string           `json:"finding" want:"required" doc:"The name of the finding, which is the same in every run."`
	Verdict string           `json:"verdict,omitempty" doc:"How the run shows it."`
	Found   string           `json:"found,omitempty" doc:"The run that showed it."`
	Hazard  bool             `json:"hazard,omitempty" doc:"It does not fail a search: no defect of a driver, or a known hazard of Kubernetes."`
	Choices []explore.Choice `json:"choices,omitempty" doc:"The decisions that are not the calm ones."`

	Text  string            `json:"text,omitempty" doc:"The text of the scenario. Default: that of the file of the scenario."`
	Files map[string]string `json:"files,omitempty" doc:"The manifests that the text names, by their paths."`
}

// Extension is the end of the file names of findings.
const Extension = ".csisim.yaml"

func (f *File) choices() iter.Seq2[string, []explore.Choice] {
	return func(yield func(string, []explore.Choice) bool) { yield("choices", f.Choices) }
}

// FileOf returns the file of a search's finding. It holds the scenario of the search, or a smaller
// scenario that suffices.
func (s *Search) FileOf(f *Finding, dir string) (*File, error) {
	path, err := relative(dir, s.file)
	if err != nil {
		return nil, err
	}
	text := s.text
	if f.Scenario != nil {
		text = f.Scenario
	}
	moved, files, err := bundled(text, filepath.Dir(s.file))
	if err != nil {
		return nil, err
	}
	space := fault.Space{}
	if slices.ContainsFunc(f.Choices, explore.Choice.IsFault) {
		space = s.options.Space
	}
	return &File{
		Head: headOf(path, []byte(moved), space), Kind: "Replay",
		Finding: f.Name, Verdict: f.Shown.Text, Found: f.Found, Hazard: !f.Fails(), Choices: f.Choices, Text: moved, Files: files,
	}, nil
}

// relative returns the path of a file relative to a directory.
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

// NameOf returns the name of the file of a finding.
func (s *Search) NameOf(f *Finding) string {
	return strings.ReplaceAll(s.subject.scenario.Name, "/", "-") + "-" + verdict.FileName(f.Name) + Extension
}

// Marshal returns the text of the file.
func (f *File) Marshal() ([]byte, error) {
	text, err := yaml.Marshal(f)
	return append([]byte("# csisim replay makes this run again.\n"), text...), err
}

// Load reads the file of a finding.
func Load(name string) (*File, error) {
	f := &File{}
	if err := load("replay", name, f); err != nil {
		return nil, err
	}
	return f, nil
}
