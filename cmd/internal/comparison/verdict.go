package comparison

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/world/plural"
)

// Verdict summarizes the result in one line.
func (c *Comparison) Verdict() string {
	runs := plural.Of(c.Runs, "real run")
	switch {
	case len(c.Failed) > 0:
		return fmt.Sprintf("failed: %s did not pass; the simulation differs in %s", strings.Join(c.Failed, ", "), plural.Of(c.Wrong(), "place"))
	case c.Wrong() == 0 && c.Noise() == 0:
		return fmt.Sprintf("equal: the simulation and %s are equal on all levels", runs)
	case c.Wrong() == 0 && c.Races() > 0:
		return fmt.Sprintf("equal within noise: the simulation and %s differ only where real runs also differ (%s) and known races (%d)", runs, plural.Of(c.Noise()-c.Races(), "place"), c.Races())
	case c.Wrong() == 0:
		return fmt.Sprintf("equal within noise: the simulation and %s differ only where real runs also differ (%s)", runs, plural.Of(c.Noise(), "place"))
	}
	var levels []string
	for _, l := range c.Levels {
		if len(l.Wrong) > 0 {
			levels = append(levels, fmt.Sprintf("%s (%d)", l.Level, len(l.Wrong)))
		}
	}
	if c.Runs == 1 {
		return fmt.Sprintf("different: the simulation differs from one real run in %s; whether that is noise, --times 2 shows", strings.Join(levels, ", "))
	}
	return fmt.Sprintf("different: the simulation differs from %s, which agree with each other there, in %s", runs, strings.Join(levels, ", "))
}

// Good reports whether all runs passed and the simulation is right.
func (c *Comparison) Good() bool { return len(c.Failed) == 0 && c.Wrong() == 0 }
