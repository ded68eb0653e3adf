package apiserver

import (
	"runtime"
	"runtime/debug"
	"strconv"

	"k8s.io/apimachinery/pkg/version"
)

// build is the part of the version that is equal for all releases.
var build = version.Info{
	Major: "1", GitCommit: buildSetting("vcs.revision"), GitTreeState: "clean", BuildDate: buildSetting("vcs.time"),
	GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
}

// sinceEmulation is the first release that reports the versions that it can emulate.
const sinceEmulation = 33

// info returns the reported version of Kubernetes.
func (s *Server) info() version.Info {
	v := s.options.Version()
	info, minor := build, strconv.Itoa(v.Minor())
	info.Minor, info.GitVersion = minor, v.Release()
	if v.Minor() >= sinceEmulation {
		info.EmulationMajor, info.EmulationMinor = "1", minor
		info.MinCompatibilityMajor, info.MinCompatibilityMinor = "1", strconv.Itoa(v.Minor()-1)
	}
	return info
}

func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == key {
			return setting.Value
		}
	}
	return ""
}
