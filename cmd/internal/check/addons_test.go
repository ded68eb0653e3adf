package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/drivers/mock"
)

// withAddons returns the reference driver in memory with CSI-Addons.
func withAddons(faulty ...string) check.Subject {
	return mocked(mock.Options{Faulty: faulty, CSIAddons: &mock.Addons{
		Node:         []string{"service.NODE_SERVICE", "reclaim_space.ONLINE", "encryption_key_rotation.ENCRYPTIONKEYROTATION", "network_fence.GET_CLIENTS_TO_FENCE"},
		FenceClients: []mock.FenceClient{{Node: "node-a", ID: "a", CIDRs: []string{"10.0.0.1/32"}}, {Node: "node-b", ID: "b", CIDRs: []string{"10.0.0.2/32"}}},
	}})
}

// dayTwo returns the names of the trials of CSI-Addons for a driver.
func dayTwo(t *testing.T, s check.Subject) (names []string) {
	t.Helper()
	_, trials := planned(t, s, check.RunOptions{})
	for _, trial := range trials {
		if trial.Group == "day-2" && trial.Runs() {
			names = append(names, trial.Name())
		}
	}
	return names
}

func TestDayTwoOperationsAreTriedOnDriversThatServeThem(t *testing.T) {
	assert.Empty(t, dayTwo(t, mocked(mock.Options{})))
	names := dayTwo(t, withAddons())
	assert.Subset(t, names, []string{
		"day-2/reclaim-lost", "day-2/rotate-repeated", "day-2/fence-driver-killed", "day-2/replicate", "day-2/group-sidecar-killed",
		"day-2/deleted", "day-2/wrong-ids", "day-2/out-of-order", "day-2/sites-move", "day-2/sites-disaster",
	})
	assert.Empty(t, verdicts(checked(t, withAddons(), check.RunOptions{Parallel: 2}, names...)))
}

// Given a driver that breaks one promise of CSI-Addons, when the trial is run, then the verdict
// names the promise.
func TestATrialFindsTheDefectsOfADriverWithCSIAddons(t *testing.T) {
	found := map[string]struct{ trial, verdict string }{
		"demoted-stays-writable":     {"day-2/replicate", "NodePublishVolume lets a demoted volume be written"},
		"promotes-second-primary":    {"day-2/sites-move", "PromoteVolume makes a second primary"},
		"replication-copies-nothing": {"day-2/sites-move", "data lost: pod default/web does not find its data"},
		"fence-ignored":              {"day-2/fence", "NodeStageVolume serves a fenced node"},
		"unfence-leaves-fence":       {"day-2/fence", "NodeStageVolume fails for good: FailedPrecondition: node node-a"},
		"group-drops-member":         {"day-2/group", "CreateVolumeGroup answers a group with other members"},
		"serves-deleted-volumes":     {"day-2/deleted", "ControllerReclaimSpace reclaims space of a deleted volume"},
		"rotates-once":               {"day-2/rotate", "EncryptionKeyRotate fails for good: Internal: volume vol-0001 has its new key already"},
		"message-shows-secret":       {"day-2/fence", "FenceClusterNetwork shows a secret"},
		"serves-unknown-volumes":     {"day-2/wrong-ids", "ControllerReclaimSpace"},
		"fence-not-idempotent":       {"day-2/fence-repeated", "FenceClusterNetwork is not idempotent: OK, then AlreadyExists"},
		"forget-fences-on-restart":   {"day-2/fence-driver-killed", "NodeStageVolume serves a fenced node"},
		"promises-fencing":           {"day-2/fence", "FenceClusterNetwork is promised and not served"},
	}
	sound := withAddons()
	facts, trials := planned(t, sound, check.RunOptions{})
	for _, m := range mock.Misbehaviours() {
		if !strings.HasPrefix(m.Breaks, "CSI-Addons") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			want, known := found[m.Name]
			require.True(t, known, "no trial is known to find it")
			assert.Contains(t, verdicts(tried(t, facts, broken(t, trials, want.trial, "  mock:\n", "    faulty: ["+m.Name+"]\n"))), want.verdict)
		})
	}
}

// twoSites returns hostdir with CSI-Addons at a separate socket, and with a site in each of two
// clusters.
func twoSites(program, defect string) check.Subject {
	s := hostdir(program, defect)
	s.Driver.Program.Command = append(s.Driver.Program.Command, "--csi-addons", "--addons-endpoint={{.AddonsEndpoint}}",
		"--site={{.Cluster}}", "--sites={{with .Cluster}}west,east{{end}}")
	return s
}

// A command can read the name of its cluster from its environment.
func TestAProgramHasSitesByItsEnvironment(t *testing.T) {
	s := hostdir(buildHostdir(t), "")
	s.Driver.Program.Command = append(s.Driver.Program.Command, "--csi-addons")
	s.Driver.Program.Env = map[string]string{"CLUSTER": "{{.Cluster}}"}
	_, trials := planned(t, s, check.RunOptions{WorkDir: workDir(t)})
	i := slices.IndexFunc(trials, func(one *check.Trial) bool { return one.Name() == "day-2/sites-move" })
	assert.True(t, trials[i].Runs(), trials[i].NotOffered)
}

// dayTwoDefects are the defects of hostdir that day-2 trials find.
var dayTwoDefects = []struct{ name, trial, verdict string }{
	{"reclaim-loses-data", "day-2/reclaim", "data lost: "},
	{"rotate-loses-data", "day-2/rotate", "data lost: "},
	{"fence-ignored", "day-2/fence", "pod web writes to volume data, which it must not"},
	{"fence-leaves-mounts", "day-2/fence", "pod web writes to volume data, which it must not"},
	{"demoted-stays-writable", "day-2/replicate", "NodePublishVolume lets a demoted volume be written"},
	{"group-drops-member", "day-2/group", "CreateVolumeGroup answers a group with other members"},
}

// A program implements the operations: its data is read again after each of them.
func TestDayTwoOperationsOfAProgram(t *testing.T) {
	program := buildHostdir(t)
	o := check.RunOptions{Parallel: 2, WorkDir: workDir(t)}
	sound := checked(t, twoSites(program, ""), o, "day-2/reclaim", "day-2/fence-driver-killed", "day-2/fence-sidecar-killed", "day-2/group-repeated", "day-2/sites-move")
	assert.Empty(t, verdicts(sound))
	assert.Len(t, sound.Outcomes, 5)
	for _, c := range dayTwoDefects {
		assert.Contains(t, verdicts(checked(t, twoSites(program, c.name), o, c.trial)), c.verdict, c.name)
	}
}
