package scenario

import (
	"fmt"
	"maps"
	"slices"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

// Lives maps images to descriptions of how their containers end.
type Lives map[string]ContainerLife

// ContainerLife describes how a container ends.
type ContainerLife struct {
	Runs  *strict.Duration `json:"runs" want:"required" example:"5s" doc:"The time for which it runs."`
	Exits exitCode         `json:"exits,omitempty" example:"1" doc:"Its exit code; default 0."`
}

func (l Lives) lives() map[string]sim.Life {
	var all map[string]sim.Life
	for _, image := range slices.Sorted(maps.Keys(l)) {
		if all == nil {
			all = map[string]sim.Life{}
		}
		all[image] = sim.Life{Runs: l[image].Runs.Duration, Exits: int32(l[image].Exits)}
	}
	return all
}

// checkLives reports images that are programs and also have a life.
func (c *checker) checkLives() {
	for _, image := range slices.Sorted(maps.Keys(c.scenario.Containers)) {
		if sim.Maps(c.scenario.Images, image) {
			path := strict.Key("containers", image)
			c.document.Report(path, fmt.Sprintf("image %q, which images has, too", image), "an image that images does not name: a program ends by itself")
		}
	}
}

// exitCode is a number from 0 to 255.
type exitCode uint8

// Wanted describes the numbers.
func (exitCode) Wanted() string { return "an exit code from 0 to 255" }

// UnmarshalStrict reads the number.
func (e *exitCode) UnmarshalStrict(n *strict.Node) {
	var code int
	if n.IsMap() || n.IsList() || n.IsNull() {
		n.ReportWrong(e.Wanted())
		return
	}
	n.Decode(&code)
	if code < 0 || code > 255 {
		n.ReportWrong(e.Wanted())
		return
	}
	*e = exitCode(code)
}

// JSONSchema is a number.
func (exitCode) JSONSchema() map[string]any {
	return map[string]any{"type": "integer", "minimum": 0, "maximum": 255}
}
