// Package namespaces runs a test binary again where it may mount and where
// whatever it starts ends with it. A test binary whose clusters have driver
// programs begins with it:
//
//	func TestMain(m *testing.M) {
//		namespaces.Enter()
//		os.Exit(m.Run())
//	}
package namespaces

import "github.com/csisim/csisim/internal/world/namespaces"

// Enter is for the start of a TestMain. It runs the program again in a mount and a
// process namespace of its own (an ordinary user: in a user namespace, too) and
// exits as that does. In the namespaces, and where the machine permits none, it returns.
func Enter() { namespaces.Enter() }

// Entered reports whether this process runs in namespaces of its own.
func Entered() bool { return namespaces.Entered() }

// Rootless reports whether this process is root in a user namespace only: it may
// mount, but neither have loop devices nor make device nodes nor change owners.
func Rootless() bool { return namespaces.Rootless() }

// Limits says why this process is root in a user namespace only; empty if it is not.
func Limits() string { return namespaces.Limits() }
