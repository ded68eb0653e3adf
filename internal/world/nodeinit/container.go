package nodeinit

import (
	"slices"
	"strconv"
	"strings"
)

// Container is the name under which this program is started to become the program of a container.
// It starts in the container's mount namespace and process namespace. Its root has the libraries
// with which it is linked, because an image may lack them. It enters the container's root, mounts
// the processes in /proc, drops privileges, and executes the program. Its arguments are the words
// of a ContainerProgram.
//
// It uses the socket on descriptor 3: it sends a Report at its start, awaits a byte, reports a
// failed step, and closes the socket. Descriptor 4 is the container's root.
const Container = "csisim-container"

// Fork is the name under which this program is started to start a Container with the same
// arguments. The Container is process 1 of a new process namespace, and becomes a child of the
// caller's parent. Only a process of a process namespace can make another namespace below it.
// ForkWithTerminal also makes its standard input the terminal of the container.
const (
	Fork             = "csisim-fork"
	ForkWithTerminal = "csisim-fork-terminal"
)

// Report is a step and an error number, 0 for none.
type Report [2]byte

// The steps of becoming a container.
const (
	Beginning = iota
	Forking
	EnteringRoot
	ShowingProcesses
	GivingUp
	Executing
)

// ContainerUser is the user of a container's program, and the privileges that it lacks.
type ContainerUser struct {
	UID, GID uint32
	Groups   []uint32
	// One means that there is only one user, and that the process already runs as that user.
	One bool
	// Dropped has a bit for each capability that the program must never have.
	Dropped         uint64
	NoNewPrivileges bool
	// Keys lets the program use the kernel's keyrings.
	Keys bool
}

// ContainerProgram is the program that a Container becomes. Without a path, the process sleeps
// until it is killed, like the process that holds the namespace of a pod.
type ContainerProgram struct {
	User      ContainerUser
	Dir, Path string
	Args, Env []string // the environment is not csisim's own, because it may name libraries
}

// Words encodes the program in the arguments of a Container.
func (c ContainerProgram) Words() []string {
	return slices.Concat(c.User.words(), []string{c.Dir, c.Path, strconv.Itoa(len(c.Args))}, c.Args, c.Env)
}

// parse is the reverse of Words.
func parse(words []string) ContainerProgram {
	user, words := words[:userWords], words[userWords:]
	end := 3 + int(number(words[2]))
	return ContainerProgram{User: parseUser(user), Dir: words[0], Path: words[1], Args: words[3:end], Env: words[end:]}
}

// userWords is the number of words that encode a user.
const userWords = 7

func (c ContainerUser) words() []string {
	var groups []string
	for _, g := range c.Groups {
		groups = append(groups, strconv.FormatUint(uint64(g), 10))
	}
	return []string{
		strconv.FormatUint(uint64(c.UID), 10), strconv.FormatUint(uint64(c.GID), 10), strings.Join(groups, ","), strconv.FormatBool(c.One),
		strconv.FormatUint(c.Dropped, 16), strconv.FormatBool(c.NoNewPrivileges), strconv.FormatBool(c.Keys),
	}
}

// parseUser is the reverse of words.
func parseUser(words []string) (c ContainerUser) {
	c.UID, c.GID = number(words[0]), number(words[1])
	for g := range strings.SplitSeq(words[2], ",") {
		if g != "" {
			c.Groups = append(c.Groups, number(g))
		}
	}
	c.One = words[3] == "true"
	c.Dropped, _ = strconv.ParseUint(words[4], 16, 64)
	c.NoNewPrivileges = words[5] == "true"
	c.Keys = words[6] == "true"
	return c
}

func number(text string) uint32 {
	n, _ := strconv.ParseUint(text, 10, 32) // csisim wrote it
	return uint32(n)
}
