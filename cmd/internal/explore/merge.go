package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Merged holds the results of the shards of searches in one directory.
type Merged struct {
	Searches []MergedSearch
	// Findings are the files of all findings, by name.
	Findings []MergedFinding
}

// MergedSearch is the search of one scenario, over its shards.
type MergedSearch struct {
	Scenario, Strategy string
	Seed               uint64
	Runs, Kept         int
	// Shards is the number of shards, and Missing lists the shards without a corpus.
	Shards  int
	Missing []int
}

// MergedFinding is a finding and its file.
type MergedFinding struct {
	*File
	Path string
}

// ReadMerged reads the corpora and findings in a directory. The error names the file that cannot be
// read.
func ReadMerged(dir string) (*Merged, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory with the results of shards", dir)
	}
	m := &Merged{}
	if err := m.readCorpora(dir); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"+Extension))
	if err != nil {
		return nil, fmt.Errorf("list the findings of %s: %w", dir, err)
	}
	for _, name := range names {
		f, err := Load(name)
		if err != nil {
			return nil, err
		}
		m.Findings = append(m.Findings, MergedFinding{f, name})
	}
	if len(m.Searches) == 0 && len(names) == 0 {
		return nil, fmt.Errorf("%s has no corpora and no findings: csisim explore --shard i/n --corpus %s --out %s writes them", dir, dir, dir)
	}
	slices.SortStableFunc(m.Findings, func(a, b MergedFinding) int {
		if a.Hazard != b.Hazard {
			return map[bool]int{false: -1, true: 1}[a.Hazard]
		}
		return strings.Compare(a.Finding, b.Finding)
	})
	return m, nil
}

func (m *Merged) readCorpora(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"+corpusExtension))
	if err != nil {
		return fmt.Errorf("list the corpora of %s: %w", dir, err)
	}
	for _, name := range names {
		c := &Corpus{}
		if err := load("corpus", name, c); err != nil {
			return err
		}
		s := m.searchOf(c)
		s.Runs, s.Kept = s.Runs+c.Runs, s.Kept+len(c.Kept)
		s.Missing = slices.DeleteFunc(s.Missing, func(shard int) bool { return shard == c.Shard })
	}
	return nil
}

// searchOf returns the search of which a corpus is a shard.
func (m *Merged) searchOf(c *Corpus) *MergedSearch {
	is := func(s MergedSearch) bool {
		return s.Scenario == c.Scenario && s.Strategy == c.Strategy && s.Seed == c.Seed && s.Shards == c.Shards
	}
	if i := slices.IndexFunc(m.Searches, is); i >= 0 {
		return &m.Searches[i]
	}
	s := MergedSearch{Scenario: c.Scenario, Strategy: c.Strategy, Seed: c.Seed, Shards: c.Shards}
	for shard := range c.Shards {
		s.Missing = append(s.Missing, shard)
	}
	m.Searches = append(m.Searches, s)
	return &m.Searches[len(m.Searches)-1]
}
