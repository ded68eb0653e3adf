package machine

import "testing"

// FirstPrograms are the programs that do as process 1.
func FirstPrograms() []string { return firstPrograms() }

// SetFirstProgram has one of them be process 1 of all machines of a test.
func SetFirstProgram(t *testing.T, path string) {
	before := firstPrograms
	firstPrograms = func() []string { return []string{path} }
	t.Cleanup(func() { firstPrograms = before })
}

// WithoutLayers makes a kernel that has no overlayfs, until the function that it returns.
func WithoutLayers() (restore func()) {
	layerType = "no-such-type"
	return func() { layerType = "overlay" }
}

// CanLimit reports whether programs can have limits.
func CanLimit() bool {
	g := newControlGroup(Limits{Processes: 1})
	if g == nil {
		return false
	}
	g.remove()
	return true
}

// OwnGroups is in the names of the groups of this process.
func OwnGroups() string { return ownGroups() }
