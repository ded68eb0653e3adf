package sim

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// checkFurther returns the first mistake in a driver's further plugins.
func (d Driver) checkFurther(subject string, nodes map[string]bool) error {
	seen := map[FurtherPlugin]bool{}
	for _, p := range d.Further {
		key := FurtherPlugin{Name: p.Name, Node: p.Node}
		switch {
		case d.Socket != nil || d.isSingle():
			return &ConfigError{Subject: subject, Problem: "only a mock, servers or a program per node can have further plugins"}
		case len(validation.IsDNS1123Label(p.Name)) > 0:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("the name %q of a further plugin is not a DNS label", p.Name)}
		case !nodes[p.Node]:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("plugin %q is on node %q, which does not exist", p.Name, p.Node)}
		case seen[key]:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("node %q has two plugins %q", p.Node, p.Name)}
		case p.Registry != "" && len(validation.IsDNS1123Label(p.Registry)) > 0:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("the registry %q of plugin %q is not the name of a directory", p.Registry, p.Name)}
		}
		seen[key] = true
	}
	return nil
}
