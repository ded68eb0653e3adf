package sim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

const storage = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: mock}
provisioner: mock.csi.csisim.dev
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: web}
spec:
  storageClassName: mock
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

var running = expect.Object{Ref: "pod/web", Phase: "Running"}

var withMock = sim.WithMock(mock.Options{Name: driver})

func faultyMock(misbehaviour string) sim.Option {
	return sim.WithMock(mock.Options{Name: driver, ListVolumes: true, Faulty: []string{misbehaviour}})
}

// lifeOf runs the lives of the pod web and its claim.
func lifeOf(c *sim.Cluster) {
	c.Apply(storage, pod("web", "node-a"))
	c.Until(running)
	c.Delete("pod/web", "pvc/web")
	c.Settle()
}

func TestATestShowsItsExpectations(t *testing.T) {
	c := sim.New(t, withMock)
	lifeOf(c)
	c.ExpectExactCalls("CreateVolume", "ControllerPublishVolume", "NodeStageVolume", "NodePublishVolume", "...", "DeleteVolume")
	c.ExpectCalls("Create*", expect.Call{Call: "NodeStageVolume", Node: "node-a", Volume: "web", Code: "OK"}, "DeleteVolume")
	c.ExpectNoCalls(expect.Call{Call: "Node*", Node: "node-b"})
	c.Expect(
		expect.Object{Ref: "pod/web", Gone: true},
		expect.Object{Ref: "pv/*", Gone: true},
		expect.Event{Reason: "SuccessfulAttachVolume", About: "po/web"},
		expect.Forbidden{Pattern: expect.Call{Call: "NodeStageVolume"}, After: &expect.Call{Call: "NodeUnstageVolume"}},
	)
	c.ExpectNothingLeft()
}

func TestObjectsAreFilesTextAndTyped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "storage.yaml")
	require.NoError(t, os.WriteFile(file, []byte(storage), 0o600))
	c := sim.New(t, withMock)
	c.Apply(file, []byte(`{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}`), pod("web", "node-a"))
	c.Until(running, expect.Object{Ref: "ns/team-a", Phase: "Active"}, expect.Object{Ref: "pv/pvc/web", Phase: "Bound", Where: func(obj store.Object) bool {
		return obj.(*corev1.PersistentVolume).Spec.CSI.Driver == driver
	}})
}

func TestAllowedLeftoversAreAccepted(t *testing.T) {
	c := sim.New(t, faultyMock("delete-leaks"))
	c.AllowLeftovers("volume *")
	lifeOf(c)
	c.ExpectNothingLeft()
}

func TestProgramsDieAndFaultsComeAndGo(t *testing.T) {
	c := sim.New(t, withMock, sim.WithFaults(fault.Fault{Call: "CreateVolume", Code: codes.Internal, Times: 1}))
	clear := c.Inject(fault.Fault{Call: "NodeStageVolume", Code: codes.Internal})
	c.Apply(storage, pod("web", "node-a"))
	c.Until(expect.Event{Reason: "FailedMount", About: "pod/web", Message: "*code = Internal desc = fault NodeStageVolume"}, expect.Event{Reason: "ProvisioningFailed"})
	c.Restart(sim.Kubelet("node-a"), sim.Plugin{Driver: driver, Node: "node-a"}, sim.Plugin{Driver: driver}, sim.Controller("attachdetach"))
	clear()
	c.Until(running)
	c.PowerOff("node-a")
	c.Advance(time.Minute)
	c.PowerOn("node-a")
	c.Until(expect.Calls{Patterns: []expect.Call{{Call: "NodePublishVolume"}, {Call: "NodePublishVolume"}}})
	c.FromHere()
	c.ExpectNoCalls("NodePublishVolume")
}

func TestEveryClientSeesTheSameCluster(t *testing.T) {
	c := sim.New(t, sim.WithMock(mock.Options{Name: driver, Snapshot: true}))
	c.Apply(storage)
	claims, err := c.DynamicClient().Resource(schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, claims.Items, 1)
	_, err = c.SnapshotClient().SnapshotV1().VolumeSnapshotClasses().Create(t.Context(), &snapshotv1.VolumeSnapshotClass{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Driver: driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.Expect(expect.Object{Ref: "vsclass/s"})
}

func TestAClusterCanLiveByTheRealClock(t *testing.T) {
	c := sim.New(t, withMock)
	c.GoLive(1000)
	c.Apply(storage, pod("web", "node-a"))
	c.Until(running)
	c.Delete("pod/web", "pvc/web")
	c.Until(expect.Object{Ref: "pv/*", Gone: true})
}

// testOf is a test that the tests of this package run and check.
type testOf struct {
	*testing.T
	failed   bool
	seen     strings.Builder
	cleanups []func()
}

func (f *testOf) Failed() bool { return f.failed }
func (f *testOf) Errorf(format string, args ...any) {
	f.failed = true
	fmt.Fprintf(&f.seen, format+"\n", args...)
}
func (f *testOf) Logf(format string, args ...any) { fmt.Fprintf(&f.seen, format+"\n", args...) }
func (f *testOf) FailNow()                        { f.failed = true; runtime.Goexit() }
func (f *testOf) Cleanup(what func())             { f.cleanups = append(f.cleanups, what) }

// failing runs a test to its end and returns its messages.
func failing(t *testing.T, test func(f *testOf)) string {
	t.Helper()
	f := &testOf{T: t}
	run := func(what func()) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			what()
		}()
		<-ended
	}
	run(func() { test(f) })
	for _, cleanup := range f.cleanups {
		run(cleanup)
	}
	require.True(t, f.failed, "the test passed")
	return f.seen.String()
}

func TestAFailedExpectationShowsItsHistory(t *testing.T) {
	for name, c := range map[string]struct {
		test func(f *testOf)
		seen []string
	}{
		"a call that did not come": {func(f *testOf) {
			c := sim.New(f, withMock)
			lifeOf(c)
			c.ExpectCalls("NodeStageVolume", "CreateVolume")
		}, []string{"call 2 of 2 did not come as expected: CreateVolume", "led there", "csi-provisioner  CreateVolume  web  OK", "there is one at"}},
		"a forbidden call": {func(f *testOf) {
			c := sim.New(f, withMock)
			lifeOf(c)
			c.ExpectNoCalls("Node*")
		}, []string{"forbidden call: NodeStageVolume", "led there"}},
		"a method that there is not": {func(f *testOf) { sim.New(f).ExpectNoCalls("NodeStageVolum") }, []string{`call "NodeStageVolum": there is no such method in the CSI spec; did you mean NodeStageVolume?`}},
		"a code that there is not":   {func(f *testOf) { sim.New(f).ExpectCalls(expect.Call{Call: "*", Code: "internal"}) }, []string{`did you mean Internal?`}},
		"a kind that there is not":   {func(f *testOf) { sim.New(f).Expect(expect.Object{Ref: "pdo/web"}) }, []string{`there is no kind "pdo"; did you mean "pdb"?`}},
		"an event's object":          {func(f *testOf) { sim.New(f).Expect(expect.Event{About: "web"}) }, []string{`"web" is no kind and name`}},
		"an object in another phase": {func(f *testOf) {
			c := sim.New(f, withMock)
			c.Apply(storage, pod("web", "node-a"))
			c.Expect(running)
		}, []string{"pod web is not as expected", "got       pod web: phase is Pending, not Running"}},
		"a wait that never ends": {func(f *testOf) {
			c := sim.New(f, withMock, sim.WithFaults(fault.Fault{Call: "NodeStageVolume", Code: codes.Internal, Message: "no such device"}))
			c.Apply(storage, pod("web", "node-a"))
			c.Within(time.Minute, running)
		}, []string{
			"timed out waiting for the condition: pod web in phase Running (after 1m0s of cluster time)", "phase is Pending, not Running",
			"NodeStageVolume  web  Internal (fault)", "FailedMount", "fault NodeStageVolume is still in force for every NodeStageVolume, until it is cleared",
		}},
		"a leak": {func(f *testOf) {
			lifeOf(sim.New(f, faultyMock("delete-leaks")))
		}, []string{"left behind: volume vol-0001", "should have gone with DeleteVolume", "led there"}},
		"a leak that is allowed, and one that is not": {func(f *testOf) {
			c := sim.New(f, faultyMock("delete-leaks"))
			c.AllowLeftovers("mount *")
			lifeOf(c)
		}, []string{"left behind: volume vol-0001", "nothing is left behind but mount *"}},
		"a breach of the CSI spec": {func(f *testOf) {
			c := sim.New(f, faultyMock("create-returns-no-id"))
			c.Apply(storage)
			c.Until(expect.Calls{Patterns: []expect.Call{{Call: "CreateVolume"}}})
		}, []string{"CSI spec violated: CreateVolumeResponse.volume.volume_id is empty"}},
		"an invariant of the test's own": {func(f *testOf) {
			c := sim.New(f, withMock)
			c.Always("there are nodes", func(s *sim.Simulation) bool { return len(s.Nodes()) > 0 })
			c.Always("there is never a pod", func(s *sim.Simulation) bool {
				_, is := store.Get[*corev1.Pod](s.World.Store, store.Key{Namespace: "default", Name: "web"})
				return !is
			})
			lifeOf(c)
		}, []string{"invariant broken: there is never a pod", "false at "}},
		"a file that there is not": {func(f *testOf) { sim.New(f).Apply("nowhere.yaml") }, []string{"apply manifests: open nowhere.yaml: no such file or directory"}},
		"a manifest with a mistake": {func(f *testOf) { sim.New(f).Apply("apiVersion: v1\nkind: Pod\nmetadata: {nam: web}\n") },
			[]string{`manifest:3`, `unknown field "nam"`}},
		"an object that is refused": {func(f *testOf) { sim.New(f).Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a_b"}}) }, []string{`apply pod/a_b`}},
		"no manifest":               {func(f *testOf) { sim.New(f).Apply(1) }, []string{"it is a int; give YAML text"}},
		"nothing to delete":         {func(f *testOf) { sim.New(f).Delete("pod/web") }, []string{"delete pod/web: there is no pod web"}},
		"a node that there is not":  {func(f *testOf) { sim.New(f).PowerOff("node-z") }, []string{`node "node-z": there is no such node`}},
		"a cluster that cannot be":  {func(f *testOf) { sim.New(f, sim.WithNodes("a", "a")) }, []string{"start the cluster: "}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := failing(t, c.test)
			for _, text := range c.seen {
				assert.Contains(t, seen, text)
			}
			if c.seen == nil {
				t.Log(seen)
			}
		})
	}
}

func TestTheTraceOfAFailedTestIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "traces")
	setFlag(t, "csisim.trace", dir)
	sim.New(t) // passes: nothing about it is written
	seen := failing(t, func(f *testOf) {
		lifeOf(sim.New(f, withMock))
		sim.New(f).Expect(running)
	})
	assert.Contains(t, seen, filepath.Join(dir, t.Name()+".jsonl"))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
	file, err := os.Open(filepath.Join(dir, t.Name()+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	lines, err := trace.Read(file)
	require.NoError(t, err)
	var methods []string
	for _, l := range lines {
		methods = append(methods, l.M)
	}
	assert.Contains(t, methods, "Node/NodeStageVolume")
	assert.Equal(t, trace.MadeWith, lines[0].K)
	assert.Equal(t, map[string]any{"csisim": "devel", "kubernetes": version.Newest.String()}, lines[0].Obj)
}

func TestTheReportOfAFailedTestIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reports")
	setFlag(t, "csisim.report", dir)
	sim.New(t) // passes: nothing about it is written
	seen := failing(t, func(f *testOf) {
		lifeOf(sim.New(f, withMock))
		sim.New(f).Expect(running)
	})
	assert.Contains(t, seen, "the report is in "+filepath.Join(dir, t.Name()+".html"))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
	text, err := os.ReadFile(filepath.Join(dir, t.Name()+".html"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"verdict":"failed"`)
	assert.Contains(t, string(text), `["Versions","csisim devel, Kubernetes `+version.Newest.String()+`"]`)
	assert.Contains(t, string(text), `"replay":"go test github.com/csisim/csisim/sim -run '^TestTheReportOfAFailedTestIsWritten$'"`)
	second, err := os.ReadFile(filepath.Join(dir, t.Name()+"-2.html"))
	require.NoError(t, err)
	assert.Contains(t, string(second), `"expected":"pod web in phase Running"`)
}

// If no imported package opens real clusters, the flag is an error that names a package that does.
// Tests of features that no real cluster has are skipped at once.
func TestARealClusterTakesItsPackage(t *testing.T) {
	setFlag(t, "csisim.on", "kind")
	seen := failing(t, func(f *testOf) { sim.New(f) })
	assert.Contains(t, seen, `-csisim.on kind: nothing takes these tests to a real cluster: import _ "github.com/csisim/csisim/sim/kind" in one of their files`)
	var pair *testing.T
	t.Run("a pair", func(t *testing.T) {
		pair = t
		sim.NewPair(t, [2]string{"east", "west"})
	})
	assert.True(t, pair.Skipped())
}

func setFlag(t *testing.T, name, value string) {
	t.Helper()
	require.NoError(t, flag.Set(name, value))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, "")) })
}
