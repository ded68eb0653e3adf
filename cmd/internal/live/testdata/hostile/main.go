// Command hostile tries to reach beyond the node on which csisim runs it, one way after the other,
// and prints for each whether the machine was reached. It does no harm: it writes values that are
// there already, opens files without a change, and otherwise touches marker files of the test.
//
//	hostile KEY=VALUE ... [-- PROGRAM ARGUMENT ...]
//
// The keys are in type target. With a program it becomes that afterwards, so that a driver can be
// hostile. With put=NAME it only gives the program a key to keep, with wait=LONG it only waits.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// target has the files and processes that the test has prepared on the machine, by their keys.
type target map[string]string

// way is one way to reach the machine. try returns an error if it failed.
type way struct {
	name string
	try  func(target) error
}

var ways = []way{
	{"write a file", writeFile},
	{"open a file by its number", openByHandle},
	{"open a device node", openDevice},
	{"write to the kernel's log", writeLog},
	{"set a kernel parameter", setParameter},
	{"set it on another /proc", setParameterElsewhere},
	{"set a device's parameter", setDevice},
	{"set it on another /sys", setDeviceElsewhere},
	{"set a release agent", setReleaseAgent},
	{"make a file in /dev", makeDevice},
	{"set the clock", setClock},
	{"load a kernel module", loadModule},
	{"load another kernel", loadKernel},
	{"load a BPF program", loadProgram},
	{"count events of the machine", countEvents},
	{"send a SysRq", commandKernel},
	{"set the program for device events", setHelper},
	{"register a format of programs", registerFormat},
	{"add swap", swap},
	{"restart the machine", restart},
	{"see a process", seeProcess},
	{"enter a namespace", enterNamespace},
	{"kill a control group", killGroup},
	{"read a System V segment", readSegment},
	{"open a message queue", openQueue},
	{"read a key", readKey},
	{"set the host name", setName},
	{"change the network", changeNetwork},
	{"read packets", readPackets},
	{"connect to loopback", connect},
	{"connect to an abstract socket", connectAbstract},
}

func main() {
	words, program, _ := cut(os.Args[1:])
	t := target{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		t[key] = value
	}
	if name := t["put"]; name != "" {
		if err := putKey(name); err != nil {
			fmt.Fprintln(os.Stderr, "hostile: put a key:", err)
			os.Exit(1)
		}
		become(program)
	}
	if t["wait"] != "" {
		time.Sleep(time.Hour)
	}
	for _, w := range ways {
		if err := w.try(t); errors.Is(err, errAbsent) {
			fmt.Fprintf(os.Stderr, "hostile: %s: absent\n", w.name)
		} else if err != nil {
			fmt.Fprintf(os.Stderr, "hostile: %s: no: %v\n", w.name, err)
		} else {
			fmt.Fprintf(os.Stderr, "hostile: %s: yes\n", w.name)
		}
	}
	if len(program) > 0 {
		become(program)
	}
}

// become replaces this program by another one.
func become(program []string) {
	fmt.Fprintln(os.Stderr, syscall.Exec(program[0], program, os.Environ()))
	os.Exit(1)
}

func cut(words []string) (before, after []string, found bool) {
	at := slices.Index(words, "--")
	if at < 0 {
		return words, nil, false
	}
	return words[:at], words[at+1:], true
}

// first returns nil if one of the attempts succeeds.
func first(attempts ...func() error) error {
	var failed []error
	for _, try := range attempts {
		err := try()
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
