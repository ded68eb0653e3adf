package nodeinit

import (
	"slices"
	"strconv"
	"strings"
)

// Container is what the program is started as to become the program of a container: in the container's mount
// namespace, as one of the processes that it is to see, but in a root where it finds the libraries that it is linked with. An image may
// have none. It enters the container's root, shows the processes in /proc, gives up what the container may not have, and executes the program.
// Its words are those of a ContainerProgram.
//
// On its descriptor 3, a socket that is closed then, it sends a Report at its begin, awaits a byte, and reports what it could not do. Its
// descriptor 4 is the container's root.
const Container = "csisim-container"

// Fork is what the program is started as to start a Container with the same words as process 1 of a new process namespace, and as a
// child of its own parent: who is in a process namespace alone may make one within it. ForkWithTerminal
// makes its standard input the terminal of the container.
const (
	Fork             = "csisim-fork"
	ForkWithTerminal = "csisim-fork-terminal"
)

// Report is a step and the number of the error, 0 if there was none.
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

// ContainerUser is who a container's program is, and what it lacks.
type ContainerUser struct {
	UID, GID uint32
	Groups   []uint32
	// One says that there is only the user that the process is already.
	One bool
	// Dropped has a bit for each capability that it may never have.
	Dropped         uint64
	NoNewPrivileges bool
}

// ContainerProgram is what a Container becomes. Without a path it lasts until it is killed, as the process that holds the namespace of a
// pod does.
type ContainerProgram struct {
	User      ContainerUser
	Dir, Path string
	Args, Env []string // the environment is not csisim's own: it may name libraries
}

// Words are how the program is named to a Container.
func (c ContainerProgram) Words() []string {
	return slices.Concat(c.User.words(), []string{c.Dir, c.Path, strconv.Itoa(len(c.Args))}, c.Args, c.Env)
}

// parse is the reverse of Words.
func parse(words []string) ContainerProgram {
	user, words := words[:userWords], words[userWords:]
	end := 3 + int(number(words[2]))
	return ContainerProgram{User: parseUser(user), Dir: words[0], Path: words[1], Args: words[3:end], Env: words[end:]}
}

// userWords is how many words name a user.
const userWords = 6

func (c ContainerUser) words() []string {
	var groups []string
	for _, g := range c.Groups {
		groups = append(groups, strconv.FormatUint(uint64(g), 10))
	}
	return []string{
		strconv.FormatUint(uint64(c.UID), 10), strconv.FormatUint(uint64(c.GID), 10), strings.Join(groups, ","), strconv.FormatBool(c.One),
		strconv.FormatUint(c.Dropped, 16), strconv.FormatBool(c.NoNewPrivileges),
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
	return c
}

func number(text string) uint32 {
	n, _ := strconv.ParseUint(text, 10, 32) // csisim wrote it
	return uint32(n)
}
