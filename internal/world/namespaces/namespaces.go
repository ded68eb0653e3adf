// Package namespaces runs a program again in new namespaces. The program may mount there, and all
// of its children end with it. These are a mount and a process namespace and, for an ordinary user,
// a user namespace in which that user is root.
//
// A test binary with driver programs in its clusters begins with it:
//
//	func TestMain(m *testing.M) {
//		namespaces.Enter()
//		os.Exit(m.Run())
//	}
package namespaces

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
)

// ErrNotPermitted is returned if this machine permits no namespaces to this user.
var ErrNotPermitted = errors.New("namespaces are not permitted")

// variable names the namespaces of a program that was run again.
const variable = "CSISIM_NAMESPACES"

// within marks a program that stays in the namespaces of its parent, and counts as a part of its
// parent.
const within = "CSISIM_WITHIN"

// Within returns the environment variable for such a program: this one, run again for other tasks.
func Within() string {
	return within + "=" + strings.Join(append([]string{strconv.Itoa(PID())}, entered...), ",")
}

// arriveWithin reports whether the process was started with the variable of Within.
func arriveWithin() bool {
	number, names, is := strings.Cut(os.Getenv(within), ",")
	if !is {
		return false
	}
	_ = os.Unsetenv(within)
	pid, _ = strconv.Atoi(number) // written by Within
	if names != "" {
		entered = strings.Split(names, ",")
	}
	return true
}

// entered are the names of the namespaces in which this process was started.
var entered []string

// Entered reports whether this process was run again in namespaces.
func Entered() bool { return len(entered) > 0 }

// pid is the number of this process outside its process namespace; 0 without one.
var pid int

// PID returns the number of this process on the machine. In a process namespace it differs from
// os.Getpid.
func PID() int {
	if pid != 0 {
		return pid
	}
	return os.Getpid()
}

// Options changes the namespaces of Again. The zero value keeps the user and the network.
type Options struct {
	// Rootless makes root run the program as an ordinary user: the user of sudo, or 65534. Files of
	// other users, including root, are out of reach.
	Rootless bool
	// Network gives the program its own network, which has only loopback. Default: nil, the network
	// of this process.
	Network *Network
}

// Network is the network of a program that is run again.
type Network struct {
	// Loopback lists TCP addresses of servers on the machine's loopback, such as "127.0.0.1:9000".
	// The program reaches each server that listens when the run begins. Default: none.
	Loopback []string
}

// Enter must be called first in TestMain. It runs the program again in namespaces and exits with
// the program's exit code. It returns if the process is already in the namespaces, or if the
// machine permits none.
func Enter() {
	Arrive()
	if Entered() {
		return
	}
	// A second signal kills this process and the program.
	ctx, stop := Interruptible(context.Background())
	code, err := Again(ctx, Options{})
	stop()
	if err == nil {
		os.Exit(code)
	}
}

// Arrive must be called first in a program that calls Again. If this is the second run, it
// completes the namespaces. Only Interruptible may be called earlier: it makes the process receive
// the signals that end the ctx of Again.
func Arrive() {
	names := os.Getenv(variable)
	if arriveWithin() || names == "" {
		return
	}
	_ = os.Unsetenv(variable) // not for its child processes
	entered = strings.Split(names, ",")
	defer arrived()
	if err := settle(); err != nil {
		os.Exit(exitUnable)
	}
}

// exitUnable is the exit code of a second run that cannot complete its namespaces. It has no other
// use.
const exitUnable = 97
