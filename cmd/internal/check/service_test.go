package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/driver/standin/web"
)

// buildHTTPDir returns the reference driver for storage systems with an HTTP API.
func buildHTTPDir(t testing.TB) string { return builtDriver(t, "httpdir") }

// httpdir returns the driver httpdir with its stand-in, and with a defect unless the defect's name
// is empty.
func httpdir(program, defect string) check.Subject {
	return check.Subject{Driver: scenario.Driver{Program: &scenario.Program{
		Command: []string{
			program, "--endpoint={{.Endpoint}}", "--node-id={{.NodeID}}", "--data-dir={{.StateDir}}", "--url={{.ServiceURL}}", "--broken=" + defect,
		},
		StandIns: profile.StandIns{HTTP: &web.Options{Collections: []web.Collection{
			{Path: "/volumes", Unique: []string{"name"}, StaleLists: true}, {Path: "/attachments"},
		}}},
	}}}
}

// Given a driver that keeps its volumes at a service, when each of its requests fails in each way,
// then a sound driver has no finding, and a faulty driver has the finding of its defect.
func TestAFailingServiceShowsTheReactionOfADriver(t *testing.T) {
	program := buildHTTPDir(t)
	sound := checked(t, httpdir(program, ""), check.RunOptions{Parallel: 2, WorkDir: workDir(t)}, "service/*")
	assert.Empty(t, verdicts(sound))
	assert.Equal(t, []string{
		"CreateVolume", "ControllerPublishVolume", "NodePublishVolume", "ControllerUnpublishVolume", "DeleteVolume", "stale-lists",
	}, passed(sound, "service"))
	for defect, want := range map[string]struct{ trial, verdict string }{
		"delete-needs-volume": {"service/DeleteVolume-404-1", "DeleteVolumeRequest is answered with NotFound"},
		"errors-are-success":  {"service/DeleteVolume-500-1", "left behind: volume volume-1"},
		"limit-is-final":      {"service/ControllerPublishVolume-429-1", "ControllerPublishVolume fails for good: ResourceExhausted"},
		"reset-makes-again":   {"service/CreateVolume-reset-2", "left behind: volume volume-1"},
		"lists-are-trusted":   {"service/stale-lists-DeleteVolume", "left behind: volume volume-1"},
		"conflict-is-final":   {"service/CreateVolume-409-1", "CreateVolume fails for good: Aborted"},
		"conflict-is-deleted": {"service/DeleteVolume-409-1", "left behind: volume volume-1"},
	} {
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			card := checked(t, httpdir(program, defect), check.RunOptions{Parallel: 2, WorkDir: workDir(t)}, want.trial)
			assert.Contains(t, verdicts(card), want.verdict)
		})
	}
}

// A driver without such a service has no trials with failures of a service.
func TestOnlyADriverWithAnHTTPServiceHasItFail(t *testing.T) {
	_, trials := planned(t, hostdir(buildHostdir(t), ""), check.RunOptions{WorkDir: workDir(t)})
	assert.NotContains(t, check.Names(trials), "service/CreateVolume")
}
