package cluster

import (
	"errors"
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// ConfigError means that a cluster cannot be created from its options.
type ConfigError struct {
	Subject string // the wrong part, such as `driver "x"`
	Problem string
}

func (e *ConfigError) Error() string { return e.Subject + ": " + e.Problem }

// EnvironmentError means that this machine cannot provide a thing that the cluster needs, or that a
// driver program does not start.
type EnvironmentError struct {
	Doing string
	Err   error
}

func (e *EnvironmentError) Error() string { return fmt.Sprintf("%s: %v", e.Doing, e.Err) }

// Unwrap is the cause.
func (e *EnvironmentError) Unwrap() error { return e.Err }

// UpgradeError means that another release of a driver does not start.
type UpgradeError struct {
	// Plugin is the plugin, such as "driver d.example.com on node-a", and Node its node; empty for
	// a controller plugin.
	Plugin, Node string
	// Version is the name of the release.
	Version string
	Err     error
}

func (e *UpgradeError) Error() string {
	return fmt.Sprintf("%s, version %s, does not start: %v", e.Plugin, e.Version, e.Err)
}

// Unwrap is the cause.
func (e *UpgradeError) Unwrap() error { return e.Err }

// notUpgraded is the form of a verdict on a release that does not start.
const notUpgraded verdict.Form = "does not start after an upgrade"

// Verdict returns the verdict on the release. The driver is to blame if its program exits; a slow
// machine may cause all other errors.
func (e *UpgradeError) Verdict() verdict.Verdict {
	err := e.Err
	if environment := (*EnvironmentError)(nil); errors.As(err, &environment) {
		err = environment.Err // this error does not describe the plugin a second time
	}
	cause, _, _ := strings.Cut(err.Error(), "\n")
	v := verdict.Verdict{Form: notUpgraded, Node: e.Node, Found: []string{e.Plugin, cause}}
	if exits := (interface{ ProgramExited() bool })(nil); errors.As(e.Err, &exits) && exits.ProgramExited() {
		v.Breaks = verdict.Alive
	}
	return v.Worded(verdict.Say("the driver %s", verdict.Kept(notUpgraded)).Aside(": version %s of %s: %s", e.Version, e.Plugin, cause))
}
