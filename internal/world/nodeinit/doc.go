// Package nodeinit is process 1 of a node: the first of its process namespace, which ends with
// it. It is a small program that First has or, as others of this package, this program, started again
// under another name; who links the package needs no code for that. It links nothing but the
// system, so that it runs early, before the rest of the program is set up.
package nodeinit

// Name is what the program is started as to be process 1, in the directory that is to be the
// node's root, in a new process namespace and the node's mount namespace. It mounts the files of its
// processes in the directory proc there, writes an Answer to its standard output, awaits a byte on
// its standard input, which says that the node has its root, and writes another Answer. Then it
// lasts until its standard input ends.
const Name = "csisim-node"

// Answer is one byte, the number of the error; 0 if there was none.
type Answer [1]byte
