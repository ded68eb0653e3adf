// Package nodeinit is process 1 of a node: the first process of its process namespace. The
// namespace ends with it. It is either the small program of First or this program, started again
// under another name. Programs that link the package need no code for that. The package imports
// only system packages, so that it runs before the rest of the program is initialized.
package nodeinit

// Name is the name under which this program is started as process 1. It starts in the directory
// that will be the node's root, in a new process namespace and the node's mount namespace. It
// mounts the files of its processes in the directory proc there, writes an Answer to its standard
// output, and awaits a byte on its standard input. The byte is sent when the node has its root.
// Then it writes another Answer, and runs until its standard input ends.
const Name = "csisim-node"

// Answer is one byte, an error number; 0 means success.
type Answer [1]byte
