package machine

// WithoutLayers makes a kernel that has no overlayfs, until the function that it returns.
func WithoutLayers() (restore func()) {
	layerType = "no-such-type"
	return func() { layerType = "overlay" }
}
