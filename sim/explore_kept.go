package sim

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/defect"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// kept is where the failures of a test that was explored are kept.
type kept struct{ dir string }

// keptFailure is a failure of a test that was explored, and the decisions that it takes.
type keptFailure struct {
	Test    string           `json:"test" want:"required" doc:"The test."`
	Failure string           `json:"failure" want:"required" doc:"What fails, in the words that are the same in every run."`
	Choices []explore.Choice `json:"choices" doc:"The decisions that are not the calm ones."`
}

// notInNames are the letters that the name of a file does not have.
var notInNames = lazyregexp.New(`[^A-Za-z0-9]+`)

func keptOf(test string) kept {
	return kept{filepath.Join("testdata", "explore", notInNames().ReplaceAllString(test, "-"))}
}

// write keeps a finding and returns where.
func (k kept) write(f *explore.Finding) (string, error) {
	file := filepath.Join(k.dir, defect.FileName(f.Name)+".yaml")
	text, err := yaml.Marshal(keptFailure{Test: filepath.Base(k.dir), Failure: f.Name, Choices: f.Choices})
	if err != nil {
		return file, err
	}
	if err := os.MkdirAll(k.dir, 0o777); err != nil {
		return file, err
	}
	return file, os.WriteFile(file, text, 0o666)
}

// fail tries the failures that were kept, and fails the test for the first that is still there.
func (k kept) fail(t T, subject *explored) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(k.dir, "*.yaml"))
	if err != nil {
		t.Errorf("read what was found before: %v", err)
		return true
	}
	for _, name := range files {
		before, err := readKept(name)
		if err != nil {
			t.Errorf("read what was found before: %v", err)
			return true
		}
		replay := explore.NewReplay(before.Choices)
		for _, shown := range subject.run(replay) {
			if shown.Name == before.Failure {
				t.Errorf("it fails as it did before, with the decisions of %s:\n%s%s", name, choicesIn(before.Choices), indented(shown.Verdict))
				return true
			}
		}
		if unfit := replay.Unfit(); unfit != "" {
			t.Logf("%s does not fit any more: %s", name, unfit)
		}
	}
	return false
}

func readKept(name string) (*keptFailure, error) {
	text, err := strict.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f := &keptFailure{}
	if document, problems := strict.Decode(name, text, f); document == nil || len(problems) > 0 {
		return nil, fmt.Errorf("%w", problems)
	}
	return f, nil
}
