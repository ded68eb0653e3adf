package fakekubelet_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// forget makes the next checks ignore everything so far.
func (n *node) forget() { n.since = n.Say("from here on") }

// Say marks a moment of the story.
func (n *node) Say(text string) *trace.Event {
	return n.Trace.Add(trace.Entry{Kind: trace.Step, Message: text})
}

func (n *node) news() []*trace.Event {
	events := n.Trace.Events()
	return events[n.since.Seq:]
}

// calls returns the calls to the driver with their outcome, without capability probes.
func (n *node) calls() []string {
	lines := []string{}
	for _, line := range n.probes() {
		if line != "cap" {
			lines = append(lines, line)
		}
	}
	return lines
}

// probes returns the calls with the capability probes ("cap") in between.
func (n *node) probes() []string {
	lines := []string{}
	for _, e := range n.news() {
		if e.Kind != trace.Call || e.Actor != "kubelet" || strings.HasSuffix(e.Method, "NodeGetInfo") {
			continue
		}
		lines = append(lines, outcome(e))
	}
	return lines
}

func outcome(e *trace.Event) string {
	code := e.Code
	if code == "" {
		code = "OK"
	}
	switch method := path.Base(e.Method); {
	case method != "NodeGetCapabilities":
		return method + " " + code
	case code == "OK":
		return "cap"
	default:
		return "cap " + code
	}
}

// times returns the times of a method's calls since the last forget.
func (n *node) times(method string) []time.Duration {
	var at []time.Duration
	for _, e := range n.news() {
		if e.Kind == trace.Call && path.Base(e.Method) == method {
			at = append(at, e.At-n.since.At)
		}
	}
	return at
}

// gaps returns the pauses between calls of a method, in tenths of a second.
func (n *node) gaps(method string) []float64 {
	var gaps []float64
	at := n.times(method)
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, (at[i] - at[i-1]).Round(100*time.Millisecond).Seconds())
	}
	return gaps
}

// request returns the last request of the given type.
func request[T proto.Message](n *node) T {
	n.t.Helper()
	events := n.Trace.Events()
	for i := len(events) - 1; i >= 0; i-- {
		if r, ok := events[i].Request.(T); ok {
			return r
		}
	}
	var none T
	require.Failf(n.t, "no such call", "%T", none)
	return none
}

// events returns the Kubernetes Events, each with its count.
func (n *node) events() []string {
	lines := []string{}
	for _, e := range n.news() {
		if e.Kind == trace.KubeEvent {
			lines = append(lines, fmt.Sprintf("%s %s: %s (%d)", e.Resource, e.Method, e.Message, e.Count()))
		}
	}
	return lines
}

// warnings returns the events of type Warning.
func (n *node) warnings() []string {
	return slices.DeleteFunc(n.events(), func(e string) bool { return !strings.HasPrefix(e, "Warning ") })
}

// kubeEvents returns all Kubernetes Events of a reason, of the whole run.
func (n *node) kubeEvents(reason string) []*trace.Event {
	var found []*trace.Event
	for _, e := range n.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == reason {
			found = append(found, e)
		}
	}
	return found
}

// moment returns the time of a resource's first change of some type, as in "pods DELETED", since
// the last forget.
func (n *node) moment(change string) time.Duration {
	n.t.Helper()
	for _, e := range n.news() {
		if e.Kind == trace.API && e.Resource+" "+e.Change == change {
			return e.At - n.since.At
		}
	}
	require.Fail(n.t, "no such change", change)
	return 0
}

func (n *node) uid(name string) types.UID {
	n.t.Helper()
	pod, ok := store.Get[*corev1.Pod](n.Store, podKey(name))
	require.True(n.t, ok)
	return pod.UID
}

func (n *node) phase(name string) corev1.PodPhase {
	pod, ok := store.Get[*corev1.Pod](n.Store, podKey(name))
	if !ok {
		return "gone"
	}
	return pod.Status.Phase
}

func (n *node) node() *corev1.Node {
	node, ok := store.Get[*corev1.Node](n.Store, store.Key{Name: nodeName})
	require.True(n.t, ok)
	return node
}

func (n *node) inUse() []corev1.UniqueVolumeName { return n.node().Status.VolumesInUse }

func (n *node) exists(name string) bool {
	_, err := n.machine.Lstat(name)
	return err == nil
}

// mounts returns the mount points on the node.
func (n *node) mounts() []string {
	targets := []string{}
	all, err := n.machine.Mounts()
	require.NoError(n.t, err)
	for _, m := range all {
		targets = append(targets, m.Target)
	}
	return targets
}

// readOnly returns, for each mount point, whether it is mounted read-only.
func (n *node) readOnly() map[string]bool {
	is := map[string]bool{}
	all, err := n.machine.Mounts()
	require.NoError(n.t, err)
	for _, m := range all {
		is[m.Target] = m.ReadOnly
	}
	return is
}

// files returns the contents of the kubelet's directories for volumes and pods. Empty directories
// end with a slash; files and links show their content. Permanent directories of the kubelet do not
// count.
func (n *node) files(dirs ...string) []string {
	if len(dirs) == 0 {
		dirs = []string{machine.KubeletDir + "/plugins/kubernetes.io", machine.KubeletDir + "/pods"}
	}
	lines := []string{}
	for _, dir := range dirs {
		n.walk(dir, &lines)
	}
	return lines
}

func (n *node) walk(dir string, lines *[]string) {
	entries, err := n.machine.ReadDir(dir)
	if err == nil && len(entries) == 0 && !slices.Contains([]string{"pods", driverName, "staging", "publish"}, path.Base(dir)) {
		*lines = append(*lines, dir+"/")
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			n.walk(name, lines)
		case e.Type() == fs.ModeSymlink:
			target, _ := n.machine.Readlink(name)
			*lines = append(*lines, name+" -> "+target)
		default:
			content, _ := n.machine.ReadFile(name)
			*lines = append(*lines, strings.TrimSpace(name+" "+string(content)))
		}
	}
}

// story returns the kubelet's calls to driver and runtime, and the pod's phases.
func (n *node) story() []string {
	lines := []string{}
	for _, e := range n.news() {
		switch {
		case e.Kind == trace.Call && e.Actor == "kubelet" && outcome(e) != "cap" && e.Method != "Node/NodeGetInfo":
			lines = append(lines, outcome(e))
		case e.Kind == trace.Runtime:
			lines = append(lines, e.Method)
		case e.Kind == trace.API && e.Resource == "pods":
			lines = append(lines, phaseChange(e)...)
		}
	}
	return lines
}

func phaseChange(e *trace.Event) []string {
	if e.New == nil {
		return []string{"gone"}
	}
	is := e.New.(*corev1.Pod).Status.Phase
	if e.Old != nil && e.Old.(*corev1.Pod).Status.Phase == is {
		return nil
	}
	return []string{string(is)}
}
