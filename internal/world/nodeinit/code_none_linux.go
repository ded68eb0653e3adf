//go:build !amd64 && !arm64

package nodeinit

func code() []byte { return nil }
