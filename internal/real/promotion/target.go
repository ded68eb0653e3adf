package promotion

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/internal/image"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/kindcluster"
	"github.com/csisim/csisim/internal/real/realcluster"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// TargetOptions select the cluster on which subjects run.
type TargetOptions struct {
	// On is kind, kind:NAME, or PATH[@CONTEXT] of a kubeconfig.
	On string
	// NodeImage is the image of a kind cluster's nodes. Default: the image for the subjects'
	// version of Kubernetes.
	NodeImage string
	// AllowContext is the kubeconfig context of a cluster that csisim did not make but may use.
	AllowContext string
	// Keep means that a new cluster is not deleted after the run.
	Keep bool
	// Images replace the pinned images of sidecars.
	Images map[string]string
	// WorkDir is the parent of files on disk. Default: os.TempDir().
	WorkDir string
	// Progress receives progress messages.
	Progress io.Writer
}

// IsKind reports whether a target is a kind cluster, and returns the cluster's name; the name is
// empty for a cluster of the run.
func (o TargetOptions) IsKind() (name string, is bool) {
	kind, name, _ := strings.Cut(o.On, ":")
	return name, kind == "kind"
}

// Target is a cluster on which subjects run.
type Target struct {
	options TargetOptions
	config  *rest.Config
	kind    *kindcluster.Cluster
	made    bool // this run made the kind cluster
	// The lock of the directory that its nodes share; nil if the run did not create the cluster.
	shared      io.Closer
	work        *workdir.Dir // nil for a cluster of a kubeconfig
	token       string
	deployments map[string]*Deployment  // by subject
	snapshots   *realcluster.Snapshots  // nil if no subject needs them
	scopes      map[string]deploy.Scope // empty for a subject that keeps its names
	provided    map[string]bool         // images that were loaded later
	turns       *turns
}

// Open finds or makes the cluster, and prepares it for the subjects. Close deletes everything that
// was made.
func Open(ctx context.Context, subjects []Subject, o TargetOptions) (*Target, error) {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // it never fails
	t := &Target{options: o, token: hex.EncodeToString(secret), deployments: map[string]*Deployment{}, scopes: map[string]deploy.Scope{}, provided: map[string]bool{}, turns: newTurns()}
	for n, s := range subjects {
		if len(subjects) > 1 && !s.OfCluster {
			t.scopes[s.Name] = deploy.NewScope(t.token, n)
		}
		d, err := Deploy(ctx, s, t.deploy(s.Name))
		if err != nil {
			return nil, err
		}
		t.deployments[s.Name] = d
	}
	var err error
	if name, isKind := o.IsKind(); isKind {
		err = t.openKind(ctx, name, subjects)
	} else if err = t.openKubeconfig(ctx); err == nil {
		err = realcluster.Leftovers(ctx, t.config, o.On)
	}
	if err == nil {
		err = t.installSnapshots(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// installSnapshots installs the kinds of snapshots if a subject needs them.
func (t *Target) installSnapshots(ctx context.Context) (err error) {
	for _, file := range slices.Sorted(keys(t.deployments)) {
		if t.deployments[file].Snapshots {
			t.snapshots, err = realcluster.InstallSnapshots(ctx, t.config, t.deploy(""))
			return err
		}
	}
	return nil
}

// deploy returns the options for a subject's drivers; an empty name is for shared objects.
func (t *Target) deploy(subject string) deploy.Options {
	_, isKind := t.options.IsKind()
	o := deploy.Options{Proxy: t.token, Run: t.token[:8], ControlPlane: isKind, Images: t.options.Images, Scope: t.scopes[subject]}
	if o.Scope != "" {
		o.Run, o.Namespace = o.Run+string(o.Scope), o.Scope.Name(deploy.Namespace)
	}
	return o
}

func (t *Target) say(format string, args ...any) {
	if t.options.Progress != nil {
		fmt.Fprintf(t.options.Progress, format+"\n", args...)
	}
}

// connect makes the configuration for clients of the kind cluster.
func (t *Target) connect() error {
	text, err := t.kind.Kubeconfig()
	if err != nil {
		return err
	}
	if t.config, err = clientcmd.RESTConfigFromKubeConfig(text); err != nil {
		return &sim.EnvironmentError{Doing: "read the kubeconfig of the kind cluster", Err: err}
	}
	swift(t.config)
	return nil
}

// swift raises the client's own limits, because the cluster belongs only to the run.
func swift(config *rest.Config) { config.QPS, config.Burst = 200, 400 }

// furnish deletes kind's own storage class, and marks the cluster as csisim's.
func (t *Target) furnish(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(t.config)
	if err == nil {
		err = clients.StorageV1().StorageClasses().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	}
	// One replica is enough, and services with two endpoints need the kernel's statistic match.
	if err == nil {
		_, err = clients.AppsV1().Deployments(metav1.NamespaceSystem).UpdateScale(ctx, "coredns", &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: "coredns", Namespace: metav1.NamespaceSystem}, Spec: autoscalingv1.ScaleSpec{Replicas: 1},
		}, metav1.UpdateOptions{})
	}
	if err == nil {
		_, err = clients.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: realcluster.Marker, Labels: map[string]string{deploy.ManagedBy: deploy.By}}}, metav1.CreateOptions{})
	}
	if err != nil {
		return &sim.EnvironmentError{Doing: "prepare the cluster", Err: err}
	}
	return nil
}

// load loads images into the nodes: built images, and existing images of the engine.
func (t *Target) load() error {
	var built []image.Image
	var pulled []string
	for _, file := range slices.Sorted(keys(t.deployments)) {
		d := t.deployments[file]
		built, pulled = append(built, d.Built...), append(pulled, d.Pulled...)
	}
	return t.bring(built, pulled)
}

// Provide loads the images of later containers.
func (t *Target) Provide(images []string) error {
	if t.kind == nil {
		return nil // its nodes pull them
	}
	d := &Deployment{}
	for _, name := range images {
		if !t.provided[name] {
			d.addContainers([]string{name})
			t.provided[name] = true
		}
	}
	if len(d.Built)+len(d.Pulled) == 0 {
		return nil
	}
	return t.bring(d.Built, d.Pulled)
}

// bring loads images into the nodes that lack them.
func (t *Target) bring(built []image.Image, pulled []string) error {
	archive := filepath.Join(t.work.Path(), "images.tar")
	built, err := t.lacking(unique(built))
	if err != nil {
		return err
	}
	if len(built) > 0 {
		t.say("Loading images …")
		if err := t.write(archive, built); err != nil {
			return err
		}
		if err := t.kind.Load(archive); err != nil {
			return err
		}
	}
	slices.Sort(pulled)
	if missing := t.kind.Missing(slices.Compact(pulled)); len(missing) > 0 {
		saved, err := t.kind.Save(missing, archive)
		if err != nil {
			return err
		}
		if len(saved) > 0 {
			if err := t.kind.Load(archive); err != nil {
				return err
			}
		}
		for _, name := range missing {
			if !slices.Contains(saved, name) {
				t.say("Image %s is not on this machine: the nodes pull it", name)
			}
		}
	}
	_ = os.Remove(archive) // the directory is removed at the end
	return nil
}

// lacking returns the images that a node lacks. A kept cluster has the images of the previous run,
// and loading takes long.
func (t *Target) lacking(images []image.Image) (all []image.Image, err error) {
	for _, i := range images {
		id, err := i.ID(runtime.GOARCH)
		if err != nil {
			return nil, &sim.EnvironmentError{Doing: "make images", Err: err}
		}
		if !t.kind.Has(i.Names, id) {
			all = append(all, i)
		}
	}
	return all, nil
}

func (t *Target) write(archive string, images []image.Image) error {
	file, err := os.Create(archive)
	if err == nil {
		err = errors.Join(image.Write(file, runtime.GOARCH, images...), file.Close())
	}
	if err != nil {
		return &sim.EnvironmentError{Doing: "make images", Err: err}
	}
	return nil
}

// unique removes the names that earlier images have, and then the images without a name.
func unique(images []image.Image) (all []image.Image) {
	seen := map[string]bool{}
	for _, i := range images {
		i.Names = slices.DeleteFunc(slices.Clone(i.Names), func(name string) bool { return seen[name] })
		for _, name := range i.Names {
			seen[name] = true
		}
		if len(i.Names) > 0 {
			all = append(all, i)
		}
	}
	return all
}

func keys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m { // the caller sorts
			if !yield(key) {
				return
			}
		}
	}
}

// nodesOf returns the nodes of all subjects.
func nodesOf(subjects []Subject) (names []string) {
	for _, s := range subjects {
		names = append(names, s.Nodes...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// openKubeconfig connects to the cluster of a kubeconfig.
func (t *Target) openKubeconfig(ctx context.Context) error {
	path, wanted, _ := strings.Cut(t.options.On, "@")
	raw, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return &sim.ConfigError{Subject: "--on " + t.options.On, Problem: fmt.Sprintf("neither kind, nor kind:NAME, nor a kubeconfig: %v", err)}
	}
	name := cmp.Or(wanted, raw.CurrentContext)
	if raw.Contexts[name] == nil {
		return &sim.ConfigError{Subject: "--on " + t.options.On, Problem: fmt.Sprintf("the kubeconfig has no context %q; it has %s", name, strings.Join(slices.Sorted(keys(raw.Contexts)), ", "))}
	}
	t.config, err = clientcmd.NewNonInteractiveClientConfig(*raw, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return &sim.ConfigError{Subject: "--on " + t.options.On, Problem: err.Error()}
	}
	swift(t.config)
	ours, err := t.isMarked(ctx)
	switch {
	case err != nil:
		return &sim.EnvironmentError{Doing: fmt.Sprintf("reach the cluster of context %q", name), Err: err}
	case !ours && name != t.options.AllowContext:
		return &sim.ConfigError{Subject: fmt.Sprintf("context %q", name), Problem: fmt.Sprintf("csisim did not make this cluster, and scenarios install drivers and delete objects: allow it with --allow-context %s", name)}
	}
	return nil
}

// isMarked reports whether csisim made the cluster.
func (t *Target) isMarked(ctx context.Context) (bool, error) {
	clients, err := kubernetes.NewForConfig(t.config)
	if err == nil {
		_, err = clients.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, realcluster.Marker, metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Config returns the configuration for clients of the cluster.
func (t *Target) Config() *rest.Config { return rest.CopyConfig(t.config) }

// Kind returns the name of the kind cluster, and whether Close deletes it; empty for another
// cluster.
func (t *Target) Kind() (name string, made bool) {
	if t.kind == nil {
		return "", false
	}
	return t.kind.Name(), t.made
}

// World returns the cluster for one subject.
func (t *Target) World(ctx context.Context, s Subject, sinks []trace.Sink) (*realcluster.Cluster, error) {
	real := realcluster.Options{Config: t.config, Nodes: s.Nodes, NodeLabels: s.NodeLabels, NodeTaints: s.NodeTaints, Drivers: t.deployments[s.Name].Drivers, Deploy: t.deploy(s.Name), NoDataCheck: s.NoDataCheck, Sinks: sinks}
	if t.kind != nil {
		real.Machines = t.kind
	} else if built := t.deployments[s.Name].Built; len(built) > 0 {
		real.NodeImage, real.Reach = built[0].Names[0], s.ReachesNodes
	}
	return realcluster.New(ctx, real)
}

// Close deletes the cluster if the run created it, unless it must be kept.
func (t *Target) Close() error {
	var err error
	if t.snapshots != nil && (t.kind == nil || !t.made) {
		err = t.snapshots.Remove()
	}
	switch {
	case t.kind != nil && t.made && !t.options.Keep:
		err = errors.Join(err, t.removeShared())
	case t.kind != nil && t.made:
		t.say("The cluster stays: use it with --on kind:%s, delete it with 'kind delete cluster --name %s'", t.kind.Name(), t.kind.Name())
	}
	err = errors.Join(err, unlock(t.shared))
	if t.work != nil {
		err = errors.Join(err, t.work.Close())
	}
	return err
}
