// Package nodeinit is process 1 of a node: the first process of its process namespace, which ends
// with it. It is either the small program of First or this program, started again under another
// name; programs that link the package need no code for that. The package imports only the system's
// packages, so that it runs before the rest of the program is initialized.
package nodeinit

// Name is the name under which this program is started to be process 1, in the directory that will
// be the node's root, in a new process namespace and the node's mount namespace. It mounts the
// files of its processes in the directory proc there, writes an Answer to its standard output, and
// awaits a byte on its standard input, sent when the node has its root. Then it writes another
// Answer, and lasts until its standard input ends.
const Name = "csisim-node"

// Answer is one byte, an error number; 0 for none.
type Answer [1]byte
