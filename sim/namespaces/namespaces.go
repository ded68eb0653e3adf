// Package namespaces runs a test binary again where it may mount, and where all its children end
// with it. A test binary that has clusters with driver programs begins with it:
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

// Enter is for the start of a TestMain. It runs the program again in its own mount and process
// namespace (for an ordinary user also in a user namespace), and exits with the same code. In the
// namespaces, and where the machine permits none, it returns. It also returns if the flag
// -csisim.on takes the tests to a real cluster: drivers mount on the nodes there.
func Enter() {
	if !promoted(os.Args[1:]) {
		namespaces.Enter()
	}
}

// Entered reports whether this process runs in namespaces of its own, or drivers run on the nodes
// of a real cluster.
func Entered() bool { return namespaces.Entered() || promoted(os.Args[1:]) }

// promoted reports whether the arguments of a test binary take its tests to a real cluster. The
// flags are parsed later.
func promoted(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return strings.HasPrefix(arg, "-") && name == "csisim.on" && (!given || value != "")
	})
}

// Rootless reports whether this process is root in a user namespace only: it may
// mount, but neither have loop devices nor make device nodes nor change owners.
func Rootless() bool { return namespaces.Rootless() }

// Limits says why this process is root only in a user namespace; empty if it is not.
func Limits() string { return namespaces.Limits() }
