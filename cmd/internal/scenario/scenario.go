package scenario

import (
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
)

// Scenario is one scenario file.
type Scenario struct {
	APIVersion  string            `json:"apiVersion" want:"required" enum:"csisim.dev/v1alpha1" doc:"The version of the scenario language."`
	Kind        string            `json:"kind" want:"required" enum:"Scenario" doc:"Always Scenario."`
	Name        string            `json:"name,omitempty" example:"rwo-filesystem" doc:"The scenario's name; default the file's name."`
	Description string            `json:"description,omitempty" doc:"The purpose of the scenario."`
	Kubernetes  Version           `json:"kubernetes,omitempty" example:"1.36" doc:"The version of Kubernetes that is simulated; default 1.36. docs/reference/versions.md lists the differences of older ones."`
	Clusters    []string          `json:"clusters,omitempty" example:"[west, east]" doc:"The names of two clusters in one virtual time. Each is as cluster, drivers and objects describe it, with a separate API, nodes and controllers; each step names its cluster. A mock has a site in each, with copies of the volumes that are replicated; a program finds the name of its cluster in {{.Cluster}} and shares {{.StateDir}}. Default: one cluster without a name."`
	Cluster     Cluster           `json:"cluster,omitempty" doc:"The nodes of the cluster; default node-a and node-b."`
	Drivers     []Driver          `json:"drivers,omitempty" doc:"The CSI drivers that are installed."`
	Images      map[string]string `json:"images,omitempty" example:"{registry.example.com/driver: ./bin/driver}" doc:"Maps images, with or without tag, to the program of their containers under csisim up, or to the root file system of their containers: an archive (docker save), an OCI layout or a directory. Containers of other images run no program. A path that begins with ./ or ../ is relative to this file."`
	Containers  Lives             `json:"containers,omitempty" example:"{registry.example.com/convert: {runs: 5s, exits: 0}}" doc:"The duration and the exit code of containers, by image with or without tag, for images that the field images does not name. Containers start again by the restart policy of their pod. Containers of other images run until they are stopped, also sidecars among the init containers; other init containers end at once."`
	DataCheck   *bool             `json:"dataCheck,omitempty" doc:"Whether containers write to their volumes and later check that the data is still there, if the driver mounts; default true."`
	Objects     Manifests         `json:"objects,omitempty" doc:"Manifests that are applied before the first step."`
	Steps       []Step            `json:"steps,omitempty" doc:"The steps, in order."`
	Always      []Invariant       `json:"always,omitempty" doc:"Statements that hold at the end of each instant of virtual time."`
	Sometimes   []Statement       `json:"sometimes,omitempty" doc:"CEL expressions that must be true at some instant of some run of a search (csisim explore). They show whether the search reaches a state at all."`
	Expect      Expectations      `json:"expect,omitempty" doc:"The expectations at the end."`

	// File is the file of the scenario.
	File string `json:"-"`

	objects   []object
	positions strict.Positions
	csiAddons bool // whether the kinds of CSI-Addons are defined from the start
}

// object is one object of the scenario's manifests.
type object = manifest.Object

// noItem is the index for a value that is not a list.
const noItem = -1

// lineOf returns the line of an expectation. This is the line of an item in the list under a key,
// or of the key's whole value. It is 0 for the expectations of every run, which the file does not
// contain.
func (s *Scenario) lineOf(path, key string, item int) int {
	at := strict.Key(path, key)
	if _, ok := s.positions[at]; !ok {
		return 0
	}
	if item != noItem {
		at = strict.Index(at, item)
	}
	return s.positions.At(at).Line
}

// line returns the line of a field. For a field that is missing in the file, it is the line of the
// last step.
func (s *Scenario) line(field string) int {
	if _, ok := s.positions[field]; !ok && len(s.Steps) > 0 {
		return s.Steps[len(s.Steps)-1].Line
	}
	return s.positions.At(field).Line
}

// noDataCheck reports whether containers do not write to their volumes.
func (s *Scenario) noDataCheck() bool { return s.DataCheck != nil && !*s.DataCheck }
