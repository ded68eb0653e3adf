package strict_test

import "github.com/csisim/csisim/internal/input/strict"

// These types are a small scenario language with every form that the package supports.

type scenario struct {
	APIVersion string            `json:"apiVersion" want:"required" enum:"csisim.dev/v1alpha1" doc:"The language's version."`
	Kind       string            `json:"kind" want:"required" enum:"Scenario"`
	Cluster    cluster           `json:"cluster,omitempty" doc:"The shape of the cluster."`
	Objects    strict.Raw        `json:"objects,omitempty" doc:"Kubernetes manifests."`
	Steps      []step            `json:"steps,omitempty" doc:"The steps, in order."`
	Limits     map[string]int32  `json:"limits,omitempty"`
	Factor     *float64          `json:"factor,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Payload    []byte            `json:"payload,omitempty"`
	Extra      any               `json:"extra,omitempty"`
	timing
}

type timing struct {
	Timeout strict.Duration `json:"timeout,omitempty" default:"6m" doc:"When to give up."`
}

type cluster struct {
	Nodes uint8    `json:"nodes,omitempty" default:"2" doc:"How many nodes there are." example:"3"`
	Zones []string `json:"zones,omitempty" enum:"east|west"`
	Mode  *string  `json:"mode,omitempty" enum:"calm|stormy"`
	Disks []disk   `json:"disks,omitempty"`
	Ready bool     `json:"ready,omitempty"`
}

// disk is a name, or a map with more fields.
type disk struct {
	Name string `json:"name" want:"required" example:"disk-a"`
	Size int    `json:"size,omitempty" default:"10"`
}

func (d *disk) UnmarshalStrict(n *strict.Node) {
	if name, ok := n.Text(); ok {
		*d = disk{Name: name, Size: 10}
		return
	}
	type fields disk
	n.Decode((*fields)(d))
}

func (disk) JSONSchema() map[string]any {
	type fields disk
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, typeOf[fields]()}}
}

type action interface{ describe() string }

var steps = strict.NewVariants[action]("step")

func init() {
	steps.Register("wait", "Waits until a pod runs.", &wait{})
	steps.Register("reboot", "Restarts a node.", &reboot{})
	steps.Register("together", "Runs steps at once.", &together{})
}

type step struct {
	Name string
	Do   action
}

func (s *step) UnmarshalStrict(n *strict.Node) { s.Name, s.Do, _ = steps.Decode(n) }
func (step) JSONSchema() map[string]any        { return steps.JSONSchema() }

type wait struct {
	Pod string          `json:"pod" want:"required" example:"web-0"`
	For strict.Duration `json:"for,omitempty" default:"90s"`
}

type reboot struct {
	Node string `json:"node,omitempty"`
}

type together struct {
	Steps []step `json:"steps" want:"required"`
}

func (w *wait) describe() string     { return "wait " + w.Pod }
func (r *reboot) describe() string   { return "reboot " + r.Node }
func (t *together) describe() string { return "together" }
