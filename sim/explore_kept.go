package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// kept is the directory with the failures of an explored test.
type kept struct{ dir string }

// keptFailure is a failure of an explored test, with the decisions that lead to it.
type keptFailure struct {
	Test    string           `json:"test" want:"required" doc:"The test."`
	Failure string           `json:"failure" want:"required" doc:"The failure, in words that are the same in every run."`
	Choices []explore.Choice `json:"choices" doc:"The decisions that are not the calm ones."`
}

// notInNames are the letters that file names must not have.
var notInNames = lazyregexp.New(`[^A-Za-z0-9]+`)

func keptOf(test string) kept {
	return kept{filepath.Join("testdata", "explore", notInNames().ReplaceAllString(test, "-"))}
}

// write writes a finding to a file and returns its path.
func (k kept) write(f *explore.Finding) (string, error) {
	file := filepath.Join(k.dir, verdict.FileName(f.Name)+".yaml")
	text, err := yaml.Marshal(keptFailure{Test: filepath.Base(k.dir), Failure: f.Name, Choices: f.Choices})
	if err != nil {
		return file, err
	}
	if err := os.MkdirAll(k.dir, 0o777); err != nil {
		return file, err
	}
	return file, os.WriteFile(file, text, 0o666)
}

// fail runs the kept failures again, and fails the test for the first failure that still occurs.
func (k kept) fail(t T, subject *explored) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(k.dir, "*.yaml"))
	if err != nil {
		t.Errorf("read an earlier finding: %v", err)
		return true
	}
	for _, name := range files {
		before, err := k.read(name)
		if err != nil {
			t.Errorf("read an earlier finding: %v", err)
			return true
		}
		if before.fail(t, subject, name) {
			return true
		}
	}
	return false
}

// fail takes the decisions again. It fails the test if the decisions lead to the failure, or if the
// run no longer offers them.
func (f *keptFailure) fail(t T, subject *explored, name string) bool {
	t.Helper()
	replay := explore.NewReplay(f.Choices)
	all := subject.run(replay)
	if replay.Unfit() != "" && f.among(all) < 0 {
		// Objects that are new in the test shift the uids of the others.
		replay = explore.NewLooseReplay(f.Choices)
		all = subject.run(replay)
	}
	unfit := replay.Unfit()
	switch i := f.among(all); {
	case i >= 0:
		t.Errorf("it fails as it did before, with the decisions of %s:\n%s%s", name, choicesIn(f.Choices), indented(all[i].Text))
	case len(all) > 0:
		t.Errorf("it fails otherwise than before (%s), with the decisions of %s:\n%s%s", f.Failure, name, choicesIn(f.Choices), indented(all[0].Text))
	case unfit == "":
		return false
	case len(replay.Taken()) == 0: // the replay would pass with any driver
		t.Errorf("%s does not fit any more: %s\n  delete it: the search continues without it, and keeps its findings", name, unfit)
	default: // a corrected driver may run differently
		t.Logf("%s does not fit any more: %s", name, unfit)
		return false
	}
	return true
}

// among returns the index of the failure among the failures of a run; negative if the run does not
// have it.
func (f *keptFailure) among(all []explore.Shown) int {
	return slices.IndexFunc(all, func(s explore.Shown) bool { return s.Name == f.Failure })
}

func (k kept) read(name string) (*keptFailure, error) {
	f, err := readKept(name)
	if err == nil && f.Test != filepath.Base(k.dir) {
		return nil, fmt.Errorf("%s is a failure of %s, not of %s", name, f.Test, filepath.Base(k.dir))
	}
	return f, err
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
