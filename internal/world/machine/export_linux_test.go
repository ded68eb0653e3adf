package machine

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
