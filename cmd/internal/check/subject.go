package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// Subject is the driver that is checked.
type Subject struct {
	// Driver is how it is reached, as in a scenario's drivers. A name that is empty
	// is asked for.
	Driver scenario.Driver
	// OneNode says that one process is the plugin of the only node, as the driver's
	// profile says; a program says so itself.
	OneNode bool
	// Parameters and MountOptions of the StorageClass, and the parameters of the
	// VolumeSnapshotClass. Default: none.
	Parameters, SnapshotParameters map[string]string
	MountOptions                   []string
	// VolumeSize of the volumes, which a driver that rounds sizes up leaves as it is;
	// they grow by as much again. Default: 16Mi.
	VolumeSize resource.Quantity
	// Handle is the volume that a driver is checked with that cannot make any;
	// Attributes are the volume's. Default: a handle of csisim's own making, which
	// will do for drivers to which a volume is what its attributes say.
	// The attributes are those of inline volumes, too.
	Handle     string
	Attributes map[string]string
	// CSIDriver is the spec of the driver's CSIDriver object; with a profile that of the
	// profile. Its attachRequired is what the driver says. Default: volumes of claims only.
	CSIDriver *storagev1.CSIDriverSpec
}

// offers says whether the CSIDriver object has a lifecycle mode. K-PUB-7
func (s Subject) offers(mode storagev1.VolumeLifecycleMode) bool {
	if s.CSIDriver == nil || len(s.CSIDriver.VolumeLifecycleModes) == 0 {
		return mode == storagev1.VolumeLifecyclePersistent
	}
	return slices.Contains(s.CSIDriver.VolumeLifecycleModes, mode)
}

// oneNode says that only one node can have a plugin.
func (s Subject) oneNode() bool {
	return s.OneNode || s.Driver.Socket != nil || (s.Driver.Program != nil && s.Driver.Program.Single)
}

// size of the volumes.
func (s Subject) size() string {
	if s.VolumeSize.IsZero() {
		return "16Mi"
	}
	return s.VolumeSize.String()
}

// grown is the size that volumes grow to.
func (s Subject) grown() string {
	twice := resource.MustParse(s.size())
	twice.Add(twice)
	return twice.String()
}

// ours says that csisim starts the driver, and can therefore end it.
func (s Subject) ours() bool { return s.Driver.Socket == nil }

// clusterYAML is the cluster of a scenario on one node or, empty, the usual one.
func (s Subject) clusterYAML(oneNode bool) string {
	if oneNode || s.oneNode() {
		return "cluster: {nodes: 1}\n\n"
	}
	return ""
}

// driverYAML is the driver as an entry of a scenario's drivers.
func (s Subject) driverYAML() (string, error) {
	fields, err := json.Marshal(s.Driver) // in the order of the language's own fields
	if err != nil {
		return "", fmt.Errorf("describe the driver: %w", err)
	}
	var entry yaml.Node
	if err := yaml.Unmarshal(fields, &entry); err != nil {
		return "", fmt.Errorf("describe the driver: %w", err)
	}
	inBlocks(&entry)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&entry); err != nil {
		return "", fmt.Errorf("describe the driver: %w", err)
	}
	return "- " + indented(text.String(), "  "), nil
}

// inBlocks lays what JSON has in one line out in lines, and quotes only what needs
// it. What is not given is left out.
func inBlocks(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		dropDefaults(n)
	}
	n.Style = 0
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		inBlocks(child)
	}
}

// dropDefaults takes out what JSON cannot leave out: a duration of 0.
func dropDefaults(n *yaml.Node) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i+1].Value != "0s" {
			kept = append(kept, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = kept
}

// indented puts an indentation before every line but the first.
func indented(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by) + "\n"
}
