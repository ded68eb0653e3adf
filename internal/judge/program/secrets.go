package program

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Logs are the logs of driver programs.
type Logs struct {
	Run

	secret map[*machine.Process]bool // the programs with a secret in their logs
	races  map[*machine.Process]int  // the number of data races found in them
}

// Secrets looks for credentials of requests in the standard output and standard error of a driver's
// programs, given their commands. A step may request violations before the end, so each log is read
// until something is found in it.
func (l *Logs) Secrets(driver string, commands []string, programs []Program) {
	handed := l.handedSecrets(driver, strings.Join(commands, " "))
	if len(handed) == 0 {
		return
	}
	for _, p := range programs {
		for _, instance := range p.Ran {
			if l.secret[instance] {
				continue
			}
			if value, line := findAny(instance.Stdout, slices.Sorted(maps.Keys(handed))); value != "" {
				if l.secret == nil {
					l.secret = map[*machine.Process]bool{}
				}
				l.secret[instance] = true
				l.reportLogged(filepath.Base(instance.Stdout), handed[value], line)
			}
		}
	}
}

// handedSecret is a secret that a driver received, with its key and the first call that contained
// it.
type handedSecret struct {
	call *trace.Event
	key  string
}

// handedSecrets returns the secrets that can be recognized in a log by their values: they do not
// look like a word or a name, and no other value of the driver contains them.
func (l *Logs) handedSecrets(driver, commands string) map[string]handedSecret {
	all := map[string]handedSecret{}
	for _, e := range l.Trace.Events() {
		if e.Kind != trace.Call || e.Driver != driver {
			continue
		}
		for _, secret := range trace.Credentials(e.Request) {
			if _, known := all[secret.Value]; !known && trace.LooksSecret(secret.Value) {
				all[secret.Value] = handedSecret{e, secret.Key}
			}
		}
	}
	maps.DeleteFunc(all, func(value string, _ handedSecret) bool {
		return strings.Contains(commands, value) || l.isOpen(driver, value)
	})
	return all
}

// isOpen reports whether the requests to a driver contain a value outside of secrets.
func (l *Logs) isOpen(driver, value string) bool {
	return slices.ContainsFunc(l.Trace.Events(), func(e *trace.Event) bool {
		return e.Kind == trace.Call && e.Driver == driver && e.Request != nil && strings.Contains(fmt.Sprint(trace.WithoutSecrets(e.Request)), value)
	})
}

// findAny returns the first of the values that occurs in a file, with its line; empty if there is
// none.
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

// mostOfLine bounds the shown part of a line.
const mostOfLine = 160

func (l *Logs) reportLogged(log string, s handedSecret, line string) {
	line = strings.TrimSpace(trace.RedactText(line, s.call.Request))
	if at := strings.Index(line, trace.Redacted); len(line) > mostOfLine {
		from := max(0, min(at-mostOfLine/2, len(line)-mostOfLine))
		line = strings.ToValidUTF8(line[from:from+mostOfLine], "")
	}
	l.Report(s.call, contract.LogsSecret(s.call.Method, s.key, log, l.Renamed(line)))
}
