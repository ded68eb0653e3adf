//go:build amd64 || arm64

package nodeinit

// codeOf returns where the code of process 1 is in this program.
func codeOf() *[codeSize]byte

// codeSize is more than it takes; what follows it is not run.
const codeSize = 512

func code() []byte { return codeOf()[:] }
