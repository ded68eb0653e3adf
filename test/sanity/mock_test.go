package sanity

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/mock"
)

// mockRun carries the mock's options, as JSON, to the process that executes the suite.
const mockRun = "SANITY_MOCK"

// notRun are the specs that are skipped even for a mock with all options. csi-snapshotter requests
// no topology of snapshots, nothing in Kubernetes reads the health of a node's storage, and the
// suite itself marks one spec as pending.
var notRun = []string{
	"pagination should detect volumes added between pages and accept tokens when the last volume from a page is deleted",
	"should return appropriate response", // NodeGetStorageHealth
	"should succeed when creating a snapshot with accessibility requirements",
}

// The suite skips specs of capabilities that a driver does not have. For a driver with all
// capabilities, the suite runs all specs except notRun.
//
// conformance: sanity-plugin-capabilities, sanity-probe, sanity-controller-capabilities,
// sanity-get-capacity, sanity-create-no-name, sanity-create-no-capabilities,
// sanity-create-same-name-same-size, sanity-create-longest-name, sanity-create-from-volume,
// sanity-create-with-class, sanity-create-with-bad-class, sanity-delete-no-id, sanity-delete,
// sanity-validate-no-id, sanity-validate-no-capabilities, sanity-validate-missing-volume,
// sanity-attach-no-id, sanity-attach-no-node, sanity-attach-no-capability,
// sanity-attach-over-limit, sanity-attach-missing-volume, sanity-attach-missing-node,
// sanity-attach-cycle, sanity-detach-no-id, sanity-expand-no-id, sanity-expand-no-range,
// sanity-expand, sanity-modify-missing-volume, sanity-modify-bad-parameters,
// sanity-modify-none-to-class, sanity-modify-class-to-class, sanity-modify-class-to-bad,
// sanity-volume-health, sanity-list-volume-health, sanity-list-snapshots,
// sanity-list-snapshots-by-id, sanity-list-snapshots-unknown-source, sanity-list-snapshots-new,
// sanity-list-snapshots-pages, sanity-get-snapshot, sanity-get-snapshot-unknown,
// sanity-delete-snapshot-no-id, sanity-delete-snapshot-unknown, sanity-delete-snapshot,
// sanity-create-snapshot-no-name, sanity-create-snapshot-longest-name, sanity-node-capabilities,
// sanity-node-info, sanity-publish-no-id, sanity-publish-no-capability, sanity-unpublish-no-target,
// sanity-stage-no-id, sanity-stage-no-path, sanity-stage-no-capability, sanity-stats-no-id,
// sanity-stats-missing-volume, sanity-stats-wrong-path, sanity-node-expand-no-id,
// sanity-node-expand-no-path, sanity-node-expand, sanity-node-health-no-id, sanity-node-health,
// sanity-node-cycle, sanity-group-capabilities, sanity-group-create-no-name,
// sanity-group-get-no-id, sanity-group-delete-no-id
func TestMockPassesSanity(t *testing.T) {
	no := new(bool)
	everything := mock.Options{
		Marks:            no, // the suite omits volume_context in two places
		ControllerExpand: true, NodeExpand: true, Snapshot: true, ListSnapshots: true, GetSnapshot: true, GroupSnapshot: true, Clone: true,
		ListVolumes: true, ListVolumesPublishedNodes: true, GetVolume: true, GetCapacity: true, ModifyVolume: true, MutableParameters: []string{"tier"},
		Stats: true, VolumeHealth: true, Topology: true, MaxVolumesPerNode: 8,
	}
	for name, options := range map[string]mock.Options{
		"as it comes":         {Marks: no},
		"everything":          everything,
		"no attach, no stage": {Marks: no, Attach: no, Stage: no},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(options)
			require.NoError(t, err)
			specs := filepath.Join(t.TempDir(), "specs.json")
			suite := exec.Command("/proc/self/exe", "-test.run=^TestMockSuite$", "-test.v", "-ginkgo.no-color", "-ginkgo.json-report="+specs)
			suite.Env = append(os.Environ(), mockRun+"="+string(text))
			output, err := suite.CombinedOutput()
			require.NoError(t, err, "%s", output)
			t.Logf("%s", summary(string(output)))
			if name == "everything" {
				require.ElementsMatch(t, notRun, withoutOutcome(t, specs))
			}
		})
	}
}

// withoutOutcome returns the specs of a report that were not run.
func withoutOutcome(t *testing.T, file string) (texts []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var suites []struct {
		SpecReports []struct{ LeafNodeType, LeafNodeText, State string }
	}
	require.NoError(t, json.Unmarshal(text, &suites))
	for _, spec := range suites[0].SpecReports {
		if spec.LeafNodeType == "It" && spec.State != "passed" {
			texts = append(texts, spec.LeafNodeText)
		}
	}
	return texts
}

// TestMockSuite runs the suite against the mock, in the process that TestMockPassesSanity starts.
func TestMockSuite(t *testing.T) {
	text := os.Getenv(mockRun)
	if text == "" {
		t.Skip("runs for each set of options in a process of its own")
	}
	var options mock.Options
	require.NoError(t, json.Unmarshal([]byte(text), &options))
	dir, err := os.MkdirTemp("", "sanity-") // t.TempDir's names are too long for a socket
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	serve(t, socket(dir), mock.New(options))
	config := sanity.NewTestConfig()
	config.Address = "unix://" + socket(dir)
	config.TargetPath = filepath.Join(dir, "target")
	config.StagingPath = filepath.Join(dir, "staging")
	config.TestNodeVolumeAttachLimit = options.MaxVolumesPerNode > 0
	if options.ModifyVolume {
		config.TestVolumeMutableParametersFile = filepath.Join(dir, "mutable.yaml")
		require.NoError(t, os.WriteFile(config.TestVolumeMutableParametersFile, []byte("tier: gold\n"), 0o600))
	}
	sanity.Test(t, config)
}

// directories replace mounts: the suite only checks target paths.
type directories struct {
	mu      sync.Mutex
	targets map[string]bool
}

// Mount creates the target.
func (d *directories) Mount(_, target string, _ bool) error {
	return d.made(target, os.MkdirAll(target, 0o755))
}

// MountDevice creates the target, a file.
func (d *directories) MountDevice(_, target string) error {
	return d.made(target, os.WriteFile(target, nil, 0o644))
}

func (d *directories) made(target string, err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.targets[target] = err == nil
	return err
}

// Unmount removes the target.
func (d *directories) Unmount(target string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.targets, target)
	return os.RemoveAll(target)
}

// IsMounted reports whether the target was created.
func (d *directories) IsMounted(target string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.targets[target], nil
}

// serve serves controller and node of the mock on one socket.
func serve(t *testing.T, socket string, driver *mock.Driver) {
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	server, controller := grpc.NewServer(), driver.Controller()
	csi.RegisterIdentityServer(server, controller)
	csi.RegisterControllerServer(server, controller)
	csi.RegisterGroupControllerServer(server, controller)
	csi.RegisterNodeServer(server, driver.Node(mock.NodeOptions{NodeID: "node-a", Mounter: &directories{targets: map[string]bool{}}}))
	go server.Serve(listener)
	t.Cleanup(server.Stop)
}
