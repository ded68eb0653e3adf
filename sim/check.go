package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/world/version"
)

// check returns the first mistake that it finds without starting anything.
func (o Options) check() error {
	if err := o.FeatureGates.Validate(); err != nil {
		return &ConfigError{Subject: "feature gates", Problem: err.Error()}
	}
	if err := o.Migration.Validate(); err != nil {
		return &ConfigError{Subject: "migration", Problem: err.Error()}
	}
	for _, name := range o.Controllers {
		if name != fakecontroller.SELinuxWarningName {
			return &ConfigError{Subject: fmt.Sprintf("controller %q", name), Problem: "it runs always, or there is no such controller; only " + fakecontroller.SELinuxWarningName + " is off unless it is named"}
		}
	}
	nodes := map[string]bool{}
	for _, n := range o.Nodes {
		subject := fmt.Sprintf("node %q", n.Name)
		if problems := validation.IsDNS1123Subdomain(n.Name); len(problems) > 0 {
			return &ConfigError{Subject: subject, Problem: "its name is not a DNS subdomain: " + problems[0]}
		}
		if nodes[n.Name] {
			return &ConfigError{Subject: subject, Problem: "two nodes have this name"}
		}
		nodes[n.Name] = true
		if err := version.CheckSkew(n.Kubernetes, o.Kubernetes); err != nil {
			return &ConfigError{Subject: subject, Problem: err.Error()}
		}
		if err := n.Migration.Validate(); err != nil {
			return &ConfigError{Subject: subject, Problem: err.Error()}
		}
	}
	names := map[string]bool{}
	for i, d := range o.Drivers {
		if err := d.check(i, nodes); err != nil {
			return err
		}
		if err := checkFlags(d, cmp.Or(o.Kubernetes, version.Newest)); err != nil {
			return err
		}
		if names[d.Name] && d.Name != "" {
			return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "two drivers have this name"}
		}
		names[d.Name] = true
	}
	return o.checkKept()
}

// checkFlags returns the first invalid flag of a driver's sidecars.
func checkFlags(d Driver, v version.Version) error {
	all := []Sidecars{d.Sidecars}
	for _, name := range slices.Sorted(maps.Keys(d.Deployments)) {
		if own := d.Deployments[name].Sidecars; own != nil {
			all = append(all, *own)
		}
	}
	for _, s := range all {
		for _, program := range s.Mistakes(v) {
			for _, m := range program.Mistakes {
				subject := strings.TrimSuffix(program.Sidecar+"."+m.Field, ".")
				return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: fmt.Sprintf("%s: found %s, want %s", subject, m.Found, m.Want)}
			}
		}
	}
	return nil
}

// checkVersions returns the first mistake in a driver's other releases.
func (d Driver) checkVersions(subject string) error {
	names := d.versions()
	switch {
	case len(names) > 0 && d.Socket != nil:
		return &ConfigError{Subject: subject, Problem: "a driver on a socket has no versions: csisim does not start it"}
	case slices.Contains(names, cmp.Or(d.Version, FirstVersion)):
		return &ConfigError{Subject: subject, Problem: fmt.Sprintf("version %q is the release that is installed first", cmp.Or(d.Version, FirstVersion))}
	}
	for _, name := range slices.Sorted(maps.Keys(d.MockVersions)) {
		if err := d.MockVersions[name].Validate(); err != nil {
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("version %q: %v", name, err)}
		}
	}
	return nil
}

func (d Driver) check(i int, nodes map[string]bool) error {
	subject := fmt.Sprintf("driver %q", d.Name)
	if d.Name == "" {
		subject = fmt.Sprintf("driver %d", i+1)
	}
	ways := 0
	for _, given := range []bool{d.Mock != nil, d.Program != nil, d.Socket != nil, d.Servers != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return &ConfigError{Subject: subject, Problem: fmt.Sprintf("%d of mock, program, socket and servers are given, exactly one is needed", ways)}
	case d.Name == "" && d.Servers != nil:
		return &ConfigError{Subject: subject, Problem: "Go servers need the driver's name"}
	case d.Program == nil && len(d.StandIns) > 0:
		return &ConfigError{Subject: subject, Problem: "stand-ins serve driver programs only"}
	case d.Program != nil && len(d.Program.Command) == 0:
		return &ConfigError{Subject: subject, Problem: "the program's command is empty"}
	}
	if d.isSingle() && len(nodes) != 1 {
		return &ConfigError{Subject: subject, Problem: fmt.Sprintf("a single program serves the controller and one node, the cluster has %d nodes", len(nodes))}
	}
	for node := range d.NodeIDs {
		if !nodes[node] {
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("nodeIDs names node %q, which does not exist", node)}
		}
	}
	if d.Later && d.Name == "" && (d.Mock == nil || d.Mock.Name == "") {
		return &ConfigError{Subject: subject, Problem: "a driver that is installed later needs its name"}
	}
	if err := d.checkReplicas(subject); err != nil {
		return err
	}
	if err := d.checkFurther(subject, nodes); err != nil {
		return err
	}
	for _, node := range d.Down {
		switch {
		case !nodes[node]:
			return &ConfigError{Subject: subject, Problem: fmt.Sprintf("down names node %q, which does not exist", node)}
		case d.Socket != nil:
			return &ConfigError{Subject: subject, Problem: "a driver on a socket runs already, it cannot be down"}
		}
	}
	if d.Socket != nil {
		for node := range d.Socket.Nodes {
			if !nodes[node] {
				return &ConfigError{Subject: subject, Problem: fmt.Sprintf("socket.nodes names node %q, which does not exist", node)}
			}
		}
	}
	if d.Mock != nil {
		if err := d.Mock.Validate(); err != nil {
			return &ConfigError{Subject: subject, Problem: err.Error()}
		}
	}
	return d.checkVersions(subject)
}
