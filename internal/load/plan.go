package load

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/plural"
)

// Shape is the course of a load.
type Shape string

const (
	// Burst creates all volumes and their pods at once, and deletes them at once.
	Burst Shape = "burst"
	// Ramp is Burst with the beginnings of the lives spread evenly over Plan.Duration.
	Ramp Shape = "ramp"
	// Churn keeps the number of volumes, and replaces Plan.Rate of them per second for
	// Plan.Duration.
	Churn Shape = "churn"
	// Move drains the first node: its pods move to the others.
	Move Shape = "move"
	// Restart restarts the kubelets and then the driver while all volumes are mounted.
	Restart Shape = "restart"
	// Snapshot takes a snapshot of each volume, and deletes it.
	Snapshot Shape = "snapshot"
	// Expand doubles the size of each volume.
	Expand Shape = "expand"
	// Block is Burst with raw block volumes.
	Block Shape = "block"
)

// Shapes are all shapes.
var Shapes = []Shape{Burst, Ramp, Churn, Move, Restart, Snapshot, Expand, Block}

// Clock determines how time passes in a load.
type Clock string

const (
	// Virtual: calls take as long as the driver needs, and waits of Kubernetes take no real time.
	Virtual Clock = "virtual"
	// RealTime: everything takes real time.
	RealTime Clock = "real"
)

// Plan is a load.
type Plan struct {
	Shape Shape `json:"shape"`
	// Volumes are the levels of the load, in ascending order: the number of volumes of each.
	Volumes []int `json:"volumes"`
	// Nodes of the cluster of each level.
	Nodes int `json:"nodes"`
	// Runs is the number of times that each level is played in its cluster, with fresh volumes.
	Runs  int   `json:"runs"`
	Clock Clock `json:"clock"`
	// Duration is the duration of a ramp or a churn, in cluster time.
	Duration time.Duration `json:"duration,omitempty"`
	// Rate is the number of volumes that a churn replaces per second.
	Rate float64 `json:"rate,omitempty"`
	// Latencies are added to calls, in the user's notation: "2s±20%" by the name of the call.
	Latencies map[string]string `json:"latencies,omitempty"`
	// Sidecars are changed flags of sidecars, in the user's notation.
	Sidecars []string `json:"sidecars,omitempty"`
	// Shard is the index, from 0, of the part of the load that was played. Shards is the number of
	// parts; 0 if the load was not divided. Whole are then the volumes of all parts.
	Shard  int   `json:"shard,omitempty"`
	Shards int   `json:"shards,omitempty"`
	Whole  []int `json:"whole,omitempty"`
	// Limit is the cluster time in which a phase of the load must end.
	Limit time.Duration `json:"-"`
}

// Defaults of a plan.
const (
	defaultRuns     = 3
	defaultDuration = time.Minute
	defaultRate     = 1
	defaultLimit    = 2 * time.Hour
	maxVolumes      = 100_000
)

// WithDefaults returns the plan with the defaults of the values that are not set.
func (p Plan) WithDefaults() Plan {
	if p.Shape == "" {
		p.Shape = Burst
	}
	if len(p.Volumes) == 0 {
		p.Volumes = []int{1, 10, 100}
	}
	if p.Shards == 0 { // the levels of shards may be equal
		p.Volumes = slices.Compact(slices.Sorted(slices.Values(p.Volumes)))
	}
	if p.Nodes == 0 {
		p.Nodes = max(p.leastNodes(), (p.Volumes[len(p.Volumes)-1]+99)/100)
	}
	if p.Runs == 0 {
		p.Runs = defaultRuns
	}
	if p.Clock == "" {
		p.Clock = Virtual
	}
	if p.Duration == 0 && (p.Shape == Ramp || p.Shape == Churn) {
		p.Duration = defaultDuration
	}
	if p.Rate == 0 && p.Shape == Churn {
		p.Rate = defaultRate
	}
	if p.Limit == 0 {
		p.Limit = defaultLimit
	}
	return p
}

func (p Plan) leastNodes() int {
	if p.Shape == Move {
		return 2
	}
	return 1
}

// Check returns the first mistake in a plan with its defaults.
func (p Plan) Check() error {
	if !slices.Contains(Shapes, p.Shape) {
		return fmt.Errorf("unknown shape %q; there are %s", p.Shape, p.shapes())
	}
	for _, n := range p.Volumes {
		if (n < 1 && p.Shards == 0) || n > maxVolumes {
			return fmt.Errorf("%d volumes: from 1 to %d are possible", n, maxVolumes)
		}
	}
	switch {
	case p.Clock != Virtual && p.Clock != RealTime:
		return fmt.Errorf("unknown clock %q; there are virtual and real", p.Clock)
	case p.Nodes < p.leastNodes():
		return fmt.Errorf("%s: the shape %s takes %d or more", plural.Of(p.Nodes, "node"), p.Shape, p.leastNodes())
	case p.Runs < 1:
		return fmt.Errorf("%d runs of each level: 1 or more are possible", p.Runs)
	case p.Duration < 0 || p.Duration > 0 && p.Shape != Ramp && p.Shape != Churn:
		return fmt.Errorf("a duration of %v: only ramp and churn have one", p.Duration)
	case p.Rate < 0 || p.Rate > 0 && p.Shape != Churn:
		return fmt.Errorf("a rate of %v: only churn has one", p.Rate)
	case p.Clock == RealTime && len(p.Latencies) > 0:
		return fmt.Errorf("latencies and the real clock: only the virtual clock can add them")
	}
	return nil
}

func (p Plan) shapes() string {
	var names []string
	for _, s := range Shapes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
