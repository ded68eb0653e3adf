// Package namespaces runs a test binary again in new namespaces. The binary may mount there, and
// all its children end with it. A test binary that has clusters with driver programs begins with
// it:
//
//	func TestMain(m *testing.M) {
//		namespaces.Enter()
//		os.Exit(m.Run())
//	}
package namespaces

import (
	"os"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// Enter is called at the start of a TestMain. It runs the program again in a new mount and process
// namespace, for an ordinary user also in a user namespace. Then it exits with the exit code of
// that run. It returns if the process is already in the namespaces, or if the machine permits none.
// It also returns if the flag -csisim.on selects a real cluster, because drivers then mount on the
// nodes of that cluster.
func Enter() {
	if !promoted(os.Args[1:]) {
		namespaces.Enter()
	}
}

// Entered reports whether this process runs in its own namespaces, or drivers run on the nodes of a
// real cluster.
func Entered() bool { return namespaces.Entered() || promoted(os.Args[1:]) }

// promoted reports whether the arguments of a test binary select a real cluster. The flags are
// parsed later.
func promoted(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return strings.HasPrefix(arg, "-") && name == "csisim.on" && (!given || value != "")
	})
}

// Rootless reports whether this process is root in a user namespace only. Then it may mount, but
// cannot use loop devices, create device nodes or change owners.
func Rootless() bool { return namespaces.Rootless() }

// Limits gives the reason why this process is root only in a user namespace; empty if it is not.
func Limits() string { return namespaces.Limits() }
