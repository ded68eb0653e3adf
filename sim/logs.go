package sim

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// violations returns the drivers' breaches of the CSI spec: those in calls, those in the logs of
// their programs, remains of deleted volumes, and orphans of failed calls.
func (c *Simulation) violations() []verdict.Verdict {
	c.lookForRemains()
	c.lookForOrphans()
	c.readLogs()
	c.readRaces()
	return c.Wire.Violations()
}

// readLogs looks for credentials of requests in the standard output and standard error of driver
// programs. A step may ask for violations before the end, so each log is read until something is
// found in it.
func (c *Simulation) readLogs() {
	for _, d := range c.drivers {
		handed := c.handedSecrets(d)
		if len(handed) == 0 {
			continue
		}
		for _, p := range c.plugins(d) {
			b, ok := p.backend.(*programBackend)
			if !ok {
				continue
			}
			for _, instance := range b.ran {
				if c.logged[instance] {
					continue
				}
				if value, line := findAny(instance.Stdout, slices.Sorted(maps.Keys(handed))); value != "" {
					c.logged[instance] = true
					c.reportLogged(b, filepath.Base(instance.Stdout), handed[value], line)
				}
			}
		}
	}
}

// handedSecret is a secret that a driver was given, in which call first and under which key.
type handedSecret struct {
	call *trace.Event
	key  string
}

// handedSecrets returns the secrets that can be recognized in a log by their values: they look like
// no word and no name, and no other value of the driver contains them.
func (c *Simulation) handedSecrets(d *driver) map[string]handedSecret {
	if d.Program == nil {
		return nil
	}
	all := map[string]handedSecret{}
	for _, e := range c.World.Trace.Events() {
		if e.Kind != trace.Call || e.Driver != d.Name {
			continue
		}
		for _, secret := range trace.Credentials(e.Request) {
			if _, known := all[secret.Value]; !known && trace.LooksSecret(secret.Value) {
				all[secret.Value] = handedSecret{e, secret.Key}
			}
		}
	}
	open := strings.Join(append(slices.Clone(d.Program.Command), d.Program.ControllerCommand...), " ")
	maps.DeleteFunc(all, func(value string, _ handedSecret) bool { return strings.Contains(open, value) || c.isOpen(d, value) })
	return all
}

// isOpen reports whether a value is in the requests to a driver outside of secrets.
func (c *Simulation) isOpen(d *driver, value string) bool {
	return slices.ContainsFunc(c.World.Trace.Events(), func(e *trace.Event) bool {
		return e.Kind == trace.Call && e.Driver == d.Name && e.Request != nil && strings.Contains(fmt.Sprint(trace.WithoutSecrets(e.Request)), value)
	})
}

// findAny is the first of the values that stands in a file, and its line; empty if none does.
func findAny(file string, values []string) (value, line string) {
	f, err := os.Open(file)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadString('\n')
		for _, value := range values {
			if strings.Contains(line, value) {
				return value, line
			}
		}
		if err != nil { // that it ends
			return "", ""
		}
	}
}

// mostOfLine is how much of a line is shown.
const mostOfLine = 160

func (c *Simulation) reportLogged(b *programBackend, log string, s handedSecret, line string) {
	line = strings.TrimSpace(trace.RedactText(line, s.call.Request))
	if at := strings.Index(line, trace.Redacted); len(line) > mostOfLine {
		from := max(0, min(at-mostOfLine/2, len(line)-mostOfLine))
		line = strings.ToValidUTF8(line[from:from+mostOfLine], "")
	}
	c.Wire.Report(s.call, contract.LogsSecret(s.call.Method, s.key, log, c.Wire.Renamed(line)))
}
