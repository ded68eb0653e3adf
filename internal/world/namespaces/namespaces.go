// Package namespaces runs a program again where it may mount and where whatever it
// starts ends with it: in a mount namespace and a process namespace of its own and,
// for an ordinary user, in a user namespace in which that user is root.
//
// A test binary whose clusters have driver programs begins with it:
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

// ErrNotPermitted says that this machine permits no namespaces to this user.
var ErrNotPermitted = errors.New("namespaces are not permitted")

// variable shows a program that was run again which namespaces it is in.
const variable = "CSISIM_NAMESPACES"

// within shows a program that this one starts that it stays in the namespaces of this one, and counts as a part of it.
const within = "CSISIM_WITHIN"

// Within is the variable for the environment of such a program: this one, run again with other tasks.
func Within() string {
	return within + "=" + strings.Join(append([]string{strconv.Itoa(PID())}, entered...), ",")
}

// arriveWithin reports whether the process was started so.
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

// entered are the names of the namespaces that this process was started in.
var entered []string

// Entered reports whether this process was run again in namespaces.
func Entered() bool { return len(entered) > 0 }

// pid is the number of this process where it was started from; 0 if that is the
// number it knows itself.
var pid int

// PID is the number of this process on the machine, which is another one than
// os.Getpid returns in a process namespace.
func PID() int {
	if pid != 0 {
		return pid
	}
	return os.Getpid()
}

// Enter is for the start of a TestMain. It runs the program again and exits as that
// does; in the namespaces, and where the machine permits none, it returns.
func Enter() {
	Arrive()
	if Entered() {
		return
	}
	ctx, stop := Interruptible(context.Background()) // what the second signal kills takes the rest along
	code, err := Again(ctx)
	stop()
	if err == nil {
		os.Exit(code)
	}
}

// Arrive is for the start of a program that calls Again: when it is run again it
// completes the namespaces. Nothing else may have been done before but Interruptible: from
// now on it is given the signals that end the ctx of Again.
func Arrive() {
	names := os.Getenv(variable)
	if arriveWithin() || names == "" {
		return
	}
	_ = os.Unsetenv(variable) // not for the programs that this one starts
	entered = strings.Split(names, ",")
	defer arrived()
	if err := settle(); err != nil {
		os.Exit(exitUnable)
	}
}

// exitUnable is how a program ends that was run again and cannot complete its
// namespaces; nothing else uses the code.
const exitUnable = 97
