// Package kindcluster creates and deletes clusters with kind's library, loads images into them and
// runs commands on their nodes, which are containers.
package kindcluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"github.com/csisim/csisim/sim"
)

// DefaultName is the name of a cluster that is created for a run and deleted with it.
const DefaultName = "csisim"

// Options describe a cluster.
type Options struct {
	// Name of the cluster. Default: DefaultName.
	Name string
	// Nodes are the workers' names.
	Nodes []string
	// Config is a configuration of kind; its workers are Nodes in their order. Default: kind's own.
	Config *v1alpha4.Cluster
	// Image is the image of all nodes. Default: Usual, except for nodes with an image in Config.
	Image string
	// Usual is the default image of nodes. Default: kind's own.
	Usual string
	// Kubeconfig is a file that kind may write. kind does not change the user's own file.
	Kubeconfig string
	// Shared is a directory of this machine that all nodes have at SharedAt. Default: none.
	Shared, SharedAt string
	// Progress receives kind's status lines. Default: none.
	Progress io.Writer
}

// Cluster is a kind cluster.
type Cluster struct {
	name     string
	provider *cluster.Provider
	engine   string // docker, podman or nerdctl
	options  Options
	nodes    map[string]nodes.Node // nodes, by their names in the cluster
}

// Find returns the cluster with a name; nil if there is none. It starts nodes without power and
// stopped kubelets, which a killed run may have left behind.
func Find(o Options) (*Cluster, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	names, err := c.clusters()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, c.name) {
		return nil, nil
	}
	return c, c.wake()
}

func (c *Cluster) clusters() ([]string, error) {
	names, err := c.provider.List()
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "list the clusters of kind", Err: err}
	}
	return names, nil
}

// Names returns the names of kind's clusters.
func Names() (map[string]bool, error) {
	c, err := connect(Options{})
	if err != nil {
		return nil, err
	}
	names, err := c.clusters()
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	return there, nil
}

// Create makes a cluster. If a cluster with that name exists it fails, because another command
// created it.
func Create(ctx context.Context, o Options) (*Cluster, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	names, err := c.clusters()
	if err != nil {
		return nil, err
	}
	if slices.Contains(names, c.name) {
		return nil, c.taken()
	}
	if err := c.createUntil(ctx); isTaken(err) {
		return nil, c.taken() // another command was faster: the cluster belongs to it
	} else if interrupted := context.Cause(ctx); err != nil && interrupted != nil {
		return nil, errors.Join(interrupted, c.Delete())
	} else if err != nil {
		return nil, errors.Join(&sim.EnvironmentError{Doing: fmt.Sprintf("make the kind cluster %q", c.name), Err: err}, c.Delete())
	}
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, c.Delete())
	}
	if err := c.findNodes(); err != nil {
		return nil, errors.Join(err, c.Delete())
	}
	return c, nil
}

// taken returns the error for a name that another cluster has.
func (c *Cluster) taken() error {
	return &sim.ConfigError{Subject: fmt.Sprintf("cluster %q", c.name), Problem: fmt.Sprintf("kind has one of that name: use it with --on kind:%s, or delete it with 'kind delete cluster --name %s'", c.name, c.name)}
}

// isTaken reports whether kind found nodes of a cluster with that name before it created any.
func isTaken(err error) bool { return err != nil && strings.Contains(err.Error(), "already exist") }

const (
	// takenTime bounds the time until kind reports that another cluster has the name. Until then,
	// nodes with that name may belong to another command.
	takenTime = 2 * time.Second
	// deleteAgain is the interval at which nodes are deleted while kind continues to create them.
	deleteAgain = time.Second
)

// createUntil creates the cluster unless ctx ends before. kind's library has no context, but its
// next steps fail after its nodes are deleted.
func (c *Cluster) createUntil(ctx context.Context) error {
	made, begun := make(chan error, 1), time.After(takenTime)
	go func() { made <- c.create() }()
	select {
	case err := <-made:
		return err
	case <-ctx.Done():
	}
	for wait := begun; ; wait = time.After(deleteAgain) {
		select {
		case err := <-made:
			return err
		case <-wait:
			_ = c.Delete() // the deletion is retried, also after kind has ended
		}
	}
}

// readyTime bounds the time until nodes are Ready.
const readyTime = 2 * time.Minute

// create makes the cluster. It turns kind's panic into an error. The panic occurs if 'kubectl get
// nodes' prints nothing.
func (c *Cluster) create() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kind panicked: %v; its nodes did not come up", p)
		}
	}()
	options := []cluster.CreateOption{
		cluster.CreateWithV1Alpha4Config(c.options.config()), cluster.CreateWithWaitForReady(readyTime),
		cluster.CreateWithKubeconfigPath(c.options.Kubeconfig), cluster.CreateWithDisplayUsage(false), cluster.CreateWithDisplaySalutation(false),
	}
	if c.options.Image != "" {
		options = append(options, cluster.CreateWithNodeImage(c.options.Image))
	}
	return c.provider.Create(c.name, options...)
}

// noElection disables leader election for the single control plane, so that a restarted program
// works immediately instead of waiting for its predecessor's lease. The user's own patches come
// later, and take precedence.
const noElection = `kind: ClusterConfiguration
controllerManager: {extraArgs: {leader-elect: "false"}}
scheduler: {extraArgs: {leader-elect: "false"}}
`

// config returns a configuration with a control plane and a worker for each node, under the node's
// name.
func (o Options) config() *v1alpha4.Cluster {
	config := &v1alpha4.Cluster{}
	if o.Config != nil {
		config = o.Config.DeepCopy()
	}
	config.TypeMeta = v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"}
	isWorker := func(n v1alpha4.Node) bool { return n.Role == v1alpha4.WorkerRole }
	workers := slices.DeleteFunc(slices.Clone(config.Nodes), func(n v1alpha4.Node) bool { return !isWorker(n) })
	config.Nodes = slices.DeleteFunc(config.Nodes, isWorker)
	if len(config.Nodes) == 0 {
		config.Nodes = []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole}}
	}
	if len(config.Nodes) == 1 {
		config.KubeadmConfigPatches = append([]string{noElection}, config.KubeadmConfigPatches...)
	}
	for i, name := range o.Nodes {
		worker := v1alpha4.Node{Role: v1alpha4.WorkerRole}
		if i < len(workers) {
			worker = workers[i]
		}
		worker.KubeadmConfigPatches = append(worker.KubeadmConfigPatches, "kind: JoinConfiguration\nnodeRegistration:\n  name: "+name+"\n")
		config.Nodes = append(config.Nodes, worker)
	}
	for i := range config.Nodes {
		n := &config.Nodes[i]
		n.Image = cmp.Or(n.Image, o.Usual)
		if o.Shared != "" {
			n.ExtraMounts = append(n.ExtraMounts, v1alpha4.Mount{HostPath: o.Shared, ContainerPath: o.SharedAt})
		}
	}
	v1alpha4.SetDefaultsCluster(config)
	return config
}

// connect finds the engine.
func connect(o Options) (*Cluster, error) {
	engine, err := findEngine()
	if err != nil {
		return nil, err
	}
	options := []cluster.ProviderOption{cluster.ProviderWithLogger(newLogger(o.Progress))}
	switch engine {
	case "podman":
		options = append(options, cluster.ProviderWithPodman())
	case "nerdctl":
		options = append(options, cluster.ProviderWithNerdctl(engine))
	default:
		options = append(options, cluster.ProviderWithDocker())
	}
	return &Cluster{name: cmp.Or(o.Name, DefaultName), provider: cluster.NewProvider(options...), engine: engine, options: o}, nil
}

// engines are the engines that kind supports.
var engines = []string{"docker", "podman", "nerdctl"}

// findEngine returns the engine in kind's own variable, or the first engine that answers.
func findEngine() (string, error) {
	if wanted := os.Getenv("KIND_EXPERIMENTAL_PROVIDER"); wanted != "" {
		return wanted, nil
	}
	var tried []string
	for _, engine := range engines {
		path, err := exec.LookPath(engine)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "info", "--format", "{{.OSType}}").CombinedOutput()
		if err == nil {
			return engine, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %s", engine, lastLine(string(out))))
	}
	if len(tried) > 0 {
		return "", &sim.EnvironmentError{Doing: "find a container engine for kind", Err: fmt.Errorf("none answers: %s. Start it, or allow this user to use it", strings.Join(tried, "; "))}
	}
	return "", &sim.EnvironmentError{Doing: "find a container engine for kind", Err: errors.New("neither docker nor podman nor nerdctl is in PATH: install one of them")}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// findNodes finds the container of each node of the cluster.
func (c *Cluster) findNodes() error {
	all, err := c.provider.ListInternalNodes(c.name)
	if err != nil {
		return &sim.EnvironmentError{Doing: "list the nodes of the kind cluster", Err: err}
	}
	c.nodes = map[string]nodes.Node{}
	for _, n := range all {
		name, err := output(n.Command("sh", "-c", "sed -n 's/.*--hostname-override=\\([^ \"]*\\).*/\\1/p' /var/lib/kubelet/kubeadm-flags.env"))
		if err != nil {
			return &sim.EnvironmentError{Doing: "look at node " + n.String(), Err: err}
		}
		c.nodes[cmp.Or(strings.TrimSpace(name), n.String())] = n
	}
	return nil
}

func output(command kindexec.Cmd) (string, error) {
	var out, problem bytes.Buffer
	err := command.SetStdout(&out).SetStderr(&problem).Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(problem.String()))
	}
	return out.String(), err
}

// Name returns the cluster's name.
func (c *Cluster) Name() string { return c.name }

// Kubeconfig returns the kubeconfig of the cluster.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	text, err := c.provider.KubeConfig(c.name, false)
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "read the kubeconfig of the kind cluster", Err: err}
	}
	return []byte(text), nil
}

// Delete deletes the cluster.
func (c *Cluster) Delete() error {
	if err := c.provider.Delete(c.name, c.options.Kubeconfig); err != nil {
		return &sim.EnvironmentError{Doing: fmt.Sprintf("delete the kind cluster %q", c.name), Err: err}
	}
	return nil
}

// Load loads an archive of images into all nodes.
func (c *Cluster) Load(archive string) error {
	for name, n := range c.nodes { // any order will do
		if err := load(n, archive); err != nil {
			return &sim.EnvironmentError{Doing: "load images into " + name, Err: err}
		}
	}
	return nil
}

func load(n nodes.Node, archive string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	return nodeutils.LoadImageArchive(n, file)
}

// Missing returns the images that some node lacks.
func (c *Cluster) Missing(images []string) (missing []string) {
	for _, image := range images {
		for _, n := range c.nodes { // any order will do
			if id, err := nodeutils.ImageID(n, image); err != nil || id == "" {
				missing = append(missing, image)
				break
			}
		}
	}
	return missing
}

// Has reports whether all nodes have the image with an ID, under each of its names.
func (c *Cluster) Has(names []string, id string) bool {
	for _, name := range names {
		for _, n := range c.nodes { // any order will do
			if there, err := nodeutils.ImageID(n, name); err != nil || there != id {
				return false
			}
		}
	}
	return true
}

// Save writes the existing images of the engine to an archive, and returns their names.
func (c *Cluster) Save(images []string, archive string) (saved []string, err error) {
	for _, image := range images {
		if exec.Command(c.engine, "image", "inspect", image).Run() == nil {
			saved = append(saved, image)
		}
	}
	if len(saved) == 0 {
		return nil, nil
	}
	out, err := exec.Command(c.engine, append([]string{"save", "-o", archive}, saved...)...).CombinedOutput()
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "save images of the engine", Err: fmt.Errorf("%w: %s", err, lastLine(string(out)))}
	}
	return saved, nil
}
