package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/kindcluster"
	"github.com/csisim/csisim/internal/real/realcluster"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// openKind uses the kind cluster with a name, or makes one.
func (t *Target) openKind(ctx context.Context, name string, subjects []Subject) error {
	o, err := kindOptions(subjects, t.options)
	if err != nil {
		return err
	}
	if t.work, err = workdir.New(t.options.WorkDir); err != nil {
		return err
	}
	o.Name, o.Progress, o.Kubeconfig = name, t.options.Progress, filepath.Join(t.work.Path(), "kubeconfig")
	if name != "" {
		if t.kind, err = kindcluster.Find(o); err != nil {
			return err
		}
		if t.kind != nil && o.Config != nil {
			t.say("The cluster %q is there already: cluster.kind is not looked at", name)
		}
	}
	if t.kind == nil {
		for _, s := range subjects {
			if why := NeverVersion(s, t.options); why != "" {
				return &sim.ConfigError{Subject: s.Name + ": kubernetes " + s.version().String(), Problem: why}
			}
		}
		if t.kind, err = t.makeKind(ctx, o); err != nil {
			return err
		}
		t.made = true
	}
	if err := t.connect(); err != nil {
		return err
	}
	if t.made {
		err = t.furnish(ctx)
	} else {
		err = realcluster.Leftovers(ctx, t.config, t.options.On)
	}
	if err != nil {
		return err
	}
	return t.load()
}

// makeKind creates a cluster with a directory that its nodes share. The directory is removed with
// the cluster.
func (t *Target) makeKind(ctx context.Context, o kindcluster.Options) (*kindcluster.Cluster, error) {
	there, err := kindcluster.Names()
	if err != nil {
		return nil, err
	}
	o.Shared, o.SharedAt = sharedDir(t.options.WorkDir, o.Name), SharedState
	name := cmp.Or(o.Name, kindcluster.DefaultName)
	if !there[name] {
		if t.shared, err = newShared(o.Shared, name); err != nil {
			return nil, err
		}
	}
	c, err := kindcluster.Create(ctx, o)
	if err != nil && t.shared != nil {
		err = errors.Join(err, workdir.RemoveTree(o.Shared))
	}
	return c, err
}

// kindOptions describe a single cluster for all subjects.
func kindOptions(subjects []Subject, t TargetOptions) (o kindcluster.Options, err error) {
	o.Image = t.NodeImage
	var first *Subject // with a configuration of kind
	for _, s := range subjects {
		if s.Kind == nil {
			continue
		}
		if first == nil {
			first, o.Config = &s, s.Kind
		} else if !reflect.DeepEqual(o.Config, s.Kind) {
			return o, &sim.ConfigError{Subject: s.Name, Problem: fmt.Sprintf("cluster.kind is another than in %s: one cluster serves all files of a command", first.Name)}
		}
	}
	if first != nil {
		o.Nodes = first.Nodes // the workers of kind's configuration have this order
	}
	for _, name := range nodesOf(subjects) {
		if !slices.Contains(o.Nodes, name) {
			o.Nodes = append(o.Nodes, name)
		}
	}
	v := subjects[0].version()
	for _, s := range subjects {
		if s.version() != v && o.Image == "" {
			return o, &sim.ConfigError{Subject: s.Name, Problem: fmt.Sprintf("it is of Kubernetes %s, %s of %s: one cluster serves all files of a command; --node-image names its version", s.version(), subjects[0].Name, v)}
		}
	}
	o.Usual = deploy.NodeImage(v)
	return o, nil
}

// NodeImage returns the image of the nodes of a cluster that is created for a subject.
func NodeImage(s Subject, t TargetOptions) string {
	o, err := kindOptions([]Subject{s}, t)
	if err != nil || o.Image != "" {
		return o.Image
	}
	images := []string{}
	for _, n := range kindNodes(o.Config) {
		if n.Image != "" {
			images = append(images, n.Image)
		}
	}
	return strings.Join(slices.Compact(append(images, o.Usual)), ", ")
}

func kindNodes(config *v1alpha4.Cluster) []v1alpha4.Node {
	if config == nil {
		return nil
	}
	return config.Nodes
}
