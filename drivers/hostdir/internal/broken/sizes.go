//go:build linux

package broken

// RoundUp returns the next whole number of MiB, in bytes.
func RoundUp(bytes int64) int64 {
	const mib = 1 << 20
	return (bytes + mib - 1) / mib * mib
}
