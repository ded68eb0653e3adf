package sshd

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// systemctl is a command for the node's only service, the kubelet.
type systemctl struct {
	verb, unit string
	quiet      bool   // prints nothing
	value      bool   // prints only the value of a property
	property   string // of show
}

// kubeletUnit is the name of the kubelet's service.
const kubeletUnit = "kubelet.service"

// parseSystemctl parses a command line that consists of plain words. It returns false for any other
// command line.
func parseSystemctl(line string) (order systemctl, ok bool) {
	words := strings.Fields(line)
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "systemctl" || strings.ContainsAny(line, "|&;<>()$`\\\"'*?[]#~\n") {
		return order, false
	}
	for i := 1; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--quiet" || word == "-q":
			order.quiet = true
		case word == "--value":
			order.value = true
		case (word == "--property" || word == "-p") && i+1 < len(words):
			i++
			order.property = words[i]
		case strings.HasPrefix(word, "--property="):
			order.property = strings.TrimPrefix(word, "--property=")
		case strings.HasPrefix(word, "-"): // --no-block and the like change nothing here
		case order.verb == "":
			order.verb = word
		case !strings.Contains(word, "."):
			order.unit = word + ".service"
		default:
			order.unit = word
		}
	}
	return order, true
}

// Exit codes of systemctl. [systemctl(1), EXIT STATUS]
const (
	notActive = 3
	noUnit    = 5
	badUsage  = 1
)

// verbs are the verbs that change or query the kubelet's state.
var verbs = []string{"start", "stop", "restart", "kill", "is-active", "status", "show"}

// run executes the command and returns its exit code.
func (o systemctl) run(node Node, out, errs io.Writer) int {
	switch {
	case !slices.Contains(verbs, o.verb):
		fmt.Fprintf(errs, "Unknown command verb %q: a node of csisim has %s\n", o.verb, strings.Join(verbs, ", "))
		return badUsage
	case o.unit != kubeletUnit:
		fmt.Fprintf(errs, "Unit %s not found: a node of csisim has %s\n", o.unit, kubeletUnit)
		return noUnit
	}
	var err error
	switch o.verb {
	case "start":
		err = node.StartKubelet()
	case "stop", "kill":
		err = node.StopKubelet()
	case "restart":
		if err = node.StopKubelet(); err == nil {
			err = node.StartKubelet()
		}
	default:
		return o.report(node.KubeletRuns(), out)
	}
	if err != nil {
		fmt.Fprintf(errs, "Failed to %s %s: %v\n", o.verb, o.unit, err)
		return badUsage
	}
	return 0
}

// report prints the kubelet's state.
func (o systemctl) report(runs bool, out io.Writer) int {
	if o.quiet {
		out = io.Discard
	}
	active, sub, code := "active", "running", 0
	if !runs {
		active, sub, code = "inactive", "dead", notActive
	}
	switch o.verb {
	case "is-active":
		fmt.Fprintln(out, active)
		return code
	case "status":
		fmt.Fprintf(out, "%s - kubelet\n     Active: %s (%s)\n", kubeletUnit, active, sub)
		return code
	}
	for _, property := range []struct{ name, value string }{{"Id", kubeletUnit}, {"LoadState", "loaded"}, {"ActiveState", active}, {"SubState", sub}} {
		switch {
		case o.property != "" && !slices.Contains(strings.Split(o.property, ","), property.name):
		case o.value:
			fmt.Fprintln(out, property.value)
		default:
			fmt.Fprintf(out, "%s=%s\n", property.name, property.value)
		}
	}
	return 0
}
