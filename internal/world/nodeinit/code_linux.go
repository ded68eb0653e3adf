//go:build amd64 || arm64

package nodeinit

// codeOf returns the address of process 1's code in this program.
func codeOf() *[codeSize]byte

// codeSize exceeds the size of the code; the bytes after the code are not executed.
const codeSize = 512

func code() []byte { return codeOf()[:] }
