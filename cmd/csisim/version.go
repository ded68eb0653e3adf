package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
	kubernetes "github.com/csisim/csisim/internal/world/version"
)

// version is set by the linker in releases.
var version = ""

func newVersion(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of csisim and of the simulated components",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(env.stdout, versions())
			return err
		},
	}
}

// versions returns the versions of csisim and of the simulated components, a line each.
func versions() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return fmt.Sprintf("csisim %s (%s)\nCSI spec %s\nKubernetes API %s\n", ownVersion(build), build.GoVersion,
		moduleVersion(build, "github.com/container-storage-interface/spec"), moduleVersion(build, "k8s.io/api"))
}

// versionsOf returns the versions of csisim and of the simulated Kubernetes.
func versionsOf(s *scenario.Scenario) trace.Versions {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	simulated := kubernetes.Newest
	if s != nil {
		simulated = cmp.Or(kubernetes.Version(s.Kubernetes), simulated)
	}
	return trace.Versions{Csisim: ownVersion(build), Kubernetes: simulated.String()}
}

// ownVersion returns the version of a release, of the installed module, or of the commit.
func ownVersion(build *debug.BuildInfo) string {
	if version != "" {
		return version
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			return "devel " + setting.Value
		}
	}
	return "devel"
}

func moduleVersion(build *debug.BuildInfo, path string) string {
	for _, module := range build.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return "unknown"
}
