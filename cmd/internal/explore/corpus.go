package explore

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/input/strict"
)

// Corpus is the result of one search of a scenario, from which another search can continue. Each
// shard of a search writes its own corpus. Corpora are merged by putting their files into one
// directory.
type Corpus struct {
	Head

	Kind     string             `json:"kind" want:"required" enum:"Corpus" doc:"Always Corpus."`
	Strategy string             `json:"strategy" want:"required" doc:"The strategy of the search."`
	Seed     uint64             `json:"seed" doc:"The seed of the first run with the strategy."`
	Shard    int                `json:"shard" doc:"Which of the shards it was, from 0."`
	Shards   int                `json:"shards" want:"required" doc:"How many shards there are."`
	Runs     int                `json:"runs" doc:"How many runs have ended."`
	Kept     [][]explore.Choice `json:"kept,omitempty" doc:"The faults of runs that reached something new."`
}

// corpusExtension is the end of the file names of corpora.
const corpusExtension = ".corpus.yaml"

// corpusOf returns the corpus of a search that has not begun.
func corpusOf(file string, text []byte, o Options) *Corpus {
	return &Corpus{
		Head: headOf(filepath.Base(file), text, o.Space), Kind: "Corpus",
		Strategy: o.Strategy, Seed: o.Seed, Shard: o.Shard, Shards: o.Shards,
	}
}

func (c *Corpus) choices() iter.Seq2[string, []explore.Choice] {
	return func(yield func(string, []explore.Choice) bool) {
		for i, kept := range c.Kept {
			if !yield(strict.Index("kept", i), kept) {
				return
			}
		}
	}
}

// continues reports whether the other corpus belongs to an earlier part of the same search.
func (c *Corpus) continues(other *Corpus) bool {
	return c.Strategy == other.Strategy && c.Seed == other.Seed && c.Shard == other.Shard && c.Shards == other.Shards && c.sameSpace(other)
}

func (c *Corpus) sameSpace(other *Corpus) bool {
	return c.Budget == other.Budget && slices.Equal(c.Faults, other.Faults)
}

// name returns the name of its file.
func (c *Corpus) name() string {
	return fmt.Sprintf("%s-%s-%d-%dof%d%s", strings.TrimSuffix(c.Scenario, ".yaml"), c.Strategy, c.Seed, c.Shard, c.Shards, corpusExtension)
}

// read reads the corpora of the scenario in a directory: the progress of this search, and the kept
// runs of all corpora.
func (c *Corpus) read(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"+corpusExtension))
	if err != nil {
		return fmt.Errorf("list the corpora of %s: %w", dir, err)
	}
	for _, name := range names {
		other := &Corpus{}
		if err := load("corpus", name, other); err != nil {
			return err
		}
		switch {
		case other.Scenario != c.Scenario:
			continue
		case other.Digest != c.Digest:
			return fmt.Errorf("corpus %s is of another text of %s: give another directory, or remove it", name, c.Scenario)
		case c.continues(other):
			c.Runs = other.Runs
		}
		if c.sameSpace(other) {
			c.Kept = append(c.Kept, other.Kept...)
		}
	}
	return nil
}

// write writes the file of the corpus atomically.
func (c *Corpus) write(dir string) error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("write corpus: %w", err)
	}
	name := filepath.Join(dir, c.name())
	if err := os.WriteFile(name+".part", text, 0o666); err != nil {
		return fmt.Errorf("write corpus: %w", errors.Join(err, os.Remove(name+".part")))
	}
	return os.Rename(name+".part", name)
}
