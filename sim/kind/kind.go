// Package kind takes tests of package sim to real clusters. A test file that imports it,
//
//	import _ "github.com/csisim/csisim/sim/kind"
//
// runs the tests of that package there with
//
//	go test -csisim.on=kind -timeout 1h
//
// in a cluster that kind (https://kind.sigs.k8s.io) creates for the tests, in an existing kind
// cluster with -csisim.on=kind:NAME, or in the cluster of a kubeconfig with
// -csisim.on=PATH[@CONTEXT] -csisim.allow-context=CONTEXT. Tests that cannot run there are skipped,
// with the reason. There, tests run one after the other, even across packages. Drivers are programs
// or the reference driver. Containers with an image in registry.local/ only sleep.
package kind

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/real/pod"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

var (
	allowed   = flag.String("csisim.allow-context", "", "with -csisim.on=PATH: the context `NAME` of a cluster that csisim did not make")
	nodeImage = flag.String("csisim.node-image", "", "with -csisim.on=kind: the `IMAGE` of the nodes (default kind's for the version of the first test)")
	images    = sidecarImages{}
)

func init() {
	flag.Var(images, "csisim.sidecar-image", "with -csisim.on: `SIDECAR=IMAGE` instead of the pinned one; several with commas between")
	switch {
	case os.Args[0] == promotion.Self: // in a container
		ctx, _ := namespaces.Interruptible(context.Background())
		exit(pod.Run(ctx, os.Args[1:]))
	case os.Getenv(keeps) != "":
		exit(supervise())
	}
	sim.Promote(open)
}

// exit ends a program that is not a test.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "csisim:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// sidecarImages is a flag that maps names of sidecars to images.
type sidecarImages map[string]string

// String returns the default of the flag.
func (s sidecarImages) String() string { return "" }

// Set adds images.
func (s sidecarImages) Set(text string) error {
	for _, one := range strings.Split(text, ",") {
		name, image, is := strings.Cut(one, "=")
		if !is {
			return fmt.Errorf("%q is not SIDECAR=IMAGE", one)
		}
		s[name] = image
	}
	return nil
}

// open opens the cluster for a test.
func open(on, test string, o sim.Options) (sim.World, error) {
	if err := promotion.Never(o); err != nil {
		return nil, err
	}
	done, err := take(test)
	if err != nil {
		return nil, err
	}
	w, err := openFor(on, test, o)
	if err != nil {
		done()
		return nil, err
	}
	w.done = done
	return w, nil
}

// openFor opens the cluster for one test at a time.
func openFor(on, test string, o sim.Options) (*world, error) {
	s := subject(test, o)
	k, target, err := begin(on, s)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	t, err := promotion.Open(ctx, []promotion.Subject{s}, target)
	if err != nil {
		return nil, errors.Join(err, k.end())
	}
	real, err := t.World(ctx, s, o.Sinks)
	if err != nil {
		return nil, errors.Join(err, t.Close(), k.end())
	}
	return &world{Cluster: real, target: t, supervisor: k, faults: o.Faults}, nil
}

// subject returns the subject of a test on a real cluster.
func subject(test string, o sim.Options) promotion.Subject {
	s := promotion.Subject{Name: test, Kubernetes: o.Kubernetes, NodeLabels: promotion.NodeLabels(o.Nodes), NodeTaints: promotion.NodeTaints(o.Nodes), NoDataCheck: o.NoDataCheck}
	for _, n := range o.Nodes {
		s.Nodes = append(s.Nodes, n.Name)
	}
	s.Options = func(ctx context.Context) sim.Options { // its drivers, with their capabilities
		asked := sim.Options{Context: ctx, Nodes: o.Nodes, Kubernetes: o.Kubernetes, Patience: o.Patience, WorkDir: o.WorkDir, HostPaths: o.HostPaths, DriverLogs: o.DriverLogs}
		for _, d := range o.Drivers {
			if d.Mock != nil {
				own := *d.Mock
				d.Mock = &own
			}
			asked.Drivers = append(asked.Drivers, d)
		}
		return asked
	}
	return s
}

// targetOptions returns the options from the flags; on is a kind cluster or an absolute path.
func targetOptions(on string) (promotion.TargetOptions, error) {
	o := promotion.TargetOptions{On: on, NodeImage: *nodeImage, AllowContext: *allowed, Images: images}
	if _, isKind := o.IsKind(); isKind {
		return o, nil
	}
	path, of, named := strings.Cut(on, "@")
	path, err := filepath.Abs(path)
	if err != nil {
		return o, &sim.EnvironmentError{Doing: "find the kubeconfig", Err: err}
	}
	if o.On = path; named {
		o.On += "@" + of
	}
	return o, nil
}
